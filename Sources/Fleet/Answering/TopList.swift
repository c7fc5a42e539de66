/// The elements with the largest ranks among all that were offered, at most a fixed number.
///
/// Pure. *Complexity*: an offer below the smallest kept rank costs one comparison, any other O(log capacity).
struct TopList<Element> {
    private let capacity: Int
    /// A heap whose first element has the smallest rank.
    private var heap: [(rank: Int, element: Element)] = []

    /// Keeps at most `capacity` elements.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The kept elements, the largest rank first.
    var sorted: [Element] { heap.sorted { $0.rank > $1.rank }.map(\.element) }

    /// Whether an element of this rank would be kept.
    func admits(_ rank: Int) -> Bool { heap.count < capacity || rank > (heap.first?.rank ?? Int.min) }

    /// Keeps an element if its rank is among the largest.
    mutating func offer(_ element: Element, _ rank: Int) {
        guard admits(rank) else { return }
        if heap.count < capacity {
            heap.append((rank, element))
            rise(heap.count - 1)
        } else {
            heap[0] = (rank, element)
            sink()
        }
    }

    private mutating func rise(_ place: Int) {
        var place = place
        while place > 0, heap[(place - 1) / 2].rank > heap[place].rank {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink() {
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].rank < heap[least].rank
            {
                least = child
            }
            guard least != place else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
