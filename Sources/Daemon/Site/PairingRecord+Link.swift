import BoxLink
import FoundationEssentials
import Persistence

extension PairingRecord {
    /// What a link and a key of ours make: a pairing whose code is still unused.
    init(link: PairingLink, identity: X25519KeyPair, site: String, label: String) {
        self.init(
            site: site, privateKey: identity.exportSecret(), boxKey: link.boxKey,
            rendezvousSecret: link.rendezvousSecret.exported(), code: link.code.exported(),
            label: label, deviceID: BoxNames.deviceID(clientKey: identity.publicKey))
    }

    /// The same pairing over a relay of its own.
    func over(_ relay: WebSocketURL) -> PairingRecord {
        var record = self
        record.relayURL = relay.description
        return record
    }
}
