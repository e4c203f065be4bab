import CPNG
import CZBar

/// Reads the QR code in a picture of the box's page.
enum QRPicture {
    enum Failure: Error, CustomStringConvertible {
        case notAPicture(String)
        case tooLarge(width: UInt32, height: UInt32)
        case noCode
        case severalCodes

        var description: String {
            switch self {
            case .notAPicture(let path): "\(path) is not a PNG picture that can be read"
            case .tooLarge(let width, let height):
                "the picture is \(width) × \(height); \(QRPicture.maxSide) × \(QRPicture.maxSide) is the most"
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
        let found = codes(in: pixels, width: image.width, height: image.height)
        guard let first = found.first else { throw .noCode }
        guard found.count == 1 else { throw .severalCodes }
        return first
    }

    private static func codes(in pixels: [UInt8], width: UInt32, height: UInt32) -> [String] {
        guard let scanner = zbar_image_scanner_create(), let picture = zbar_image_create() else { return [] }
        defer {
            zbar_image_destroy(picture)
            zbar_image_scanner_destroy(scanner)
        }
        zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
        zbar_image_set_format(picture, 0x3030_3859)  // Y800: one byte a pixel
        zbar_image_set_size(picture, width, height)
        return pixels.withUnsafeBytes { bytes in
            zbar_image_set_data(picture, bytes.baseAddress, UInt(bytes.count), nil)
            guard zbar_scan_image(scanner, picture) > 0 else { return [] }
            var found: [String] = []
            var symbol = zbar_image_first_symbol(picture)
            while let current = symbol {
                if let text = zbar_symbol_get_data(current) { found.append(String(cString: text)) }
                symbol = zbar_symbol_next(current)
            }
            return found
        }
    }
}
