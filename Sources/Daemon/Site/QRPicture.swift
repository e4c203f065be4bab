import CPNG
import CZBar

/// Reads the QR code in a picture of the box's page.
enum QRPicture {
    enum Failure: Error, CustomStringConvertible {
        case notAPicture(String)
        case tooLarge(width: UInt32, height: UInt32)
        case noReader
        case noCode
        case severalCodes

        var description: String {
            switch self {
            case .notAPicture(let path): "\(path) is not a PNG picture that can be read"
            case .tooLarge(let width, let height):
                "the picture is \(width) × \(height); \(QRPicture.maxSide) × \(QRPicture.maxSide) is the most"
            case .noReader:
                "reading a picture needs the library zbar (apt-get install libzbar0), or give the link itself"
            case .noCode:
                "there is no QR code to be seen in this picture; cut it closer, and leave a white border"
            case .severalCodes: "there are several QR codes in this picture; leave the box's alone"
            }
        }
    }

    /// Pixels, each way.
    static let maxSide: UInt32 = 6000

    /// The text of the one QR code in a PNG file.
    ///
    /// - Throws: `Failure`.
    static func text(at path: String) throws(Failure) -> String {
        var image = png_image()
        image.version = 1  // PNG_IMAGE_VERSION
        defer { png_image_free(&image) }
        guard png_image_begin_read_from_file(&image, path) != 0 else { throw .notAPicture(path) }
        guard image.width <= maxSide, image.height <= maxSide else {
            throw .tooLarge(width: image.width, height: image.height)
        }
        image.format = 0  // PNG_FORMAT_GRAY: one byte a pixel
        var white = png_color(red: 255, green: 255, blue: 255)
        var pixels = [UInt8](repeating: 255, count: Int(image.width) * Int(image.height))
        guard png_image_finish_read(&image, &white, &pixels, 0, nil) != 0 else { throw .notAPicture(path) }
        let found = try codes(in: pixels, width: image.width, height: image.height)
        guard let first = found.first else { throw .noCode }
        guard found.count == 1 else { throw .severalCodes }
        return first
    }

    private static func codes(in pixels: [UInt8], width: UInt32, height: UInt32) throws(Failure) -> [String] {
        var zbar = CZBar.czbar()
        guard czbar_load(&zbar) != 0 else { throw .noReader }
        guard let scanner = zbar.image_scanner_create(), let picture = zbar.image_create() else { return [] }
        defer {
            zbar.image_destroy(picture)
            zbar.image_scanner_destroy(scanner)
        }
        _ = zbar.image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        _ = zbar.image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
        zbar.image_set_format(picture, 0x3030_3859)  // Y800: one byte a pixel
        zbar.image_set_size(picture, width, height)
        return pixels.withUnsafeBytes { bytes in
            zbar.image_set_data(picture, bytes.baseAddress, UInt(bytes.count), nil)
            guard zbar.scan_image(scanner, picture) > 0 else { return [] }
            var found: [String] = []
            var symbol = zbar.image_first_symbol(picture)
            while let current = symbol {
                if let text = zbar.symbol_get_data(current) { found.append(String(cString: text)) }
                symbol = zbar.symbol_next(current)
            }
            return found
        }
    }
}
