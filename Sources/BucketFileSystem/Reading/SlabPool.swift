import Glibc

/// Memory for bytes read: slabs of 1 MiB from the system, each whole or cut into equal slots. What is mapped never
/// exceeds the limit, whatever sizes come and go, because a slab is counted whole; a general allocator would keep
/// freed pieces between used ones, uncounted.
///
/// Not safe by itself: `MemoryBudget` holds it under its lock.
@safe
struct SlabPool {
    /// Which slot of which slab.
    struct Place: Equatable, Sendable {
        fileprivate var slab: Int
        fileprivate var slot: Int
    }

    @unsafe
    struct Slot {
        var place: Place
        var bytes: UnsafeMutableRawBufferPointer
    }

    @safe
    private struct Slab {
        var base: UnsafeMutableRawPointer
        var slotSize: Int
        var freeSlots: [UInt16]
        var slotCount: Int { slabSize / slotSize }
    }

    static let slabSize = 1 << 20
    /// A page: the smallest slot.
    static let smallestSlot = 4 << 10
    /// So many empty slabs stay mapped for the next use: touching fresh pages costs more than copying into used ones.
    private static let mostEmpty = 16

    let limit: Int
    private var slabs: [Slab?] = []
    private var freeIndices: [Int] = []
    /// For each slot size, the slabs that have free slots, each once.
    private var open: [Int: [Int]] = [:]
    private var empty: [UnsafeMutableRawPointer] = unsafe []
    /// In slabs. Those given back count until `wasUnmapped()`.
    private var mapped = 0

    /// - Parameter limit: in bytes; rounded down to whole slabs.
    init(limit: Int64) { self.limit = Int(limit) / Self.slabSize }

    var mappedBytes: Int64 { Int64(mapped) * Int64(Self.slabSize) }

    /// The smallest slot for so many bytes, at most a slab.
    static func slotSize(for count: Int) -> Int {
        precondition((1...slabSize).contains(count), "a slot of \(count) bytes")
        var size = smallestSlot
        while size < count { size *= 2 }
        return size
    }

    /// For each count, slots that hold so many bytes together: whole slabs, and one slot for the rest. All or none.
    /// - Returns: nil slots if there is no room; slabs for the caller to unmap as with `put`.
    mutating func take(_ counts: [Int64]) -> (slots: [[Slot]]?, surplus: [UnsafeMutableRawPointer]) {
        var taken: [[Slot]] = unsafe []
        for count in counts {
            unsafe taken.append([])
            var left = count
            while left > 0 {
                guard let slot = unsafe take(Int(min(left, Int64(Self.slabSize)))) else {
                    return unsafe (nil, taken.joined().compactMap { unsafe put($0.place) })
                }
                unsafe taken[taken.count - 1].append(slot)
                left -= Int64(Self.slabSize)
            }
        }
        return unsafe (taken, [])
    }

    private mutating func take(_ count: Int) -> Slot? {
        let size = Self.slotSize(for: count)
        guard let index = open[size]?.last ?? newSlab(slotSize: size) else { return nil }
        let slot = Int(slabs[index]!.freeSlots.removeLast())
        if slabs[index]!.freeSlots.isEmpty { open[size]!.removeLast() }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: slabs[index]!.base + slot * size, count: size)
        return unsafe Slot(place: Place(slab: index, slot: slot), bytes: bytes)
    }

    /// Gives a slot back.
    /// - Returns: a slab for the caller to unmap, outside the lock; then it says so with `wasUnmapped()`.
    mutating func put(_ place: Place) -> UnsafeMutableRawPointer? {
        slabs[place.slab]!.freeSlots.append(UInt16(place.slot))
        let slab = slabs[place.slab]!
        if slab.freeSlots.count == 1 { open[slab.slotSize, default: []].append(place.slab) }
        guard slab.freeSlots.count == slab.slotCount else { return nil }
        open[slab.slotSize]!.removeAll { $0 == place.slab }
        slabs[place.slab] = nil
        freeIndices.append(place.slab)
        guard unsafe empty.count >= Self.mostEmpty else {
            unsafe empty.append(slab.base)
            return nil
        }
        return unsafe slab.base
    }

    mutating func wasUnmapped() { mapped -= 1 }

    static func unmap(_ base: UnsafeMutableRawPointer) { unsafe munmap(base, slabSize) }

    /// Unmaps what is empty; the pool's owner is gone.
    mutating func close() {
        while let base = unsafe empty.popLast() { unsafe Self.unmap(base) }
    }

    private mutating func newSlab(slotSize: Int) -> Int? {
        guard let base = unsafe empty.popLast() ?? map() else { return nil }
        let slots = (0..<UInt16(Self.slabSize / slotSize)).reversed()
        let slab = unsafe Slab(base: base, slotSize: slotSize, freeSlots: Array(slots))
        let index: Int
        if let reused = freeIndices.popLast() {
            index = reused
            slabs[index] = slab
        } else {
            index = slabs.count
            slabs.append(slab)
        }
        open[slotSize, default: []].append(index)
        return index
    }

    private mutating func map() -> UnsafeMutableRawPointer? {
        guard mapped < limit else { return nil }
        let base = unsafe mmap(nil, Self.slabSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard unsafe base != MAP_FAILED else { return nil }
        mapped += 1
        return unsafe base
    }
}
