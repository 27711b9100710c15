/// `st_ino`: made from an object's name, so that `git`, `rsync` and backup programs see the same number after a forget
/// and after a remount.
enum FileNumber {
    static let root: UInt64 = 1

    /// FNV-1a over the name's bytes, finished as in MurmurHash3 so that near names differ everywhere.
    /// - Parameter attempt: counts up while the number is taken by another name.
    static func make(from name: [UInt8], attempt: UInt64) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 &+ attempt
        for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
        return hash <= root ? hash + 2 : hash
    }
}
