//! Values at ranks of several histograms together, found by bisection: adding them up first
//! would cost more than most questions.

use super::Bucket;

/// The lowest value at or below which `rank` values lie, of parts that hold as many or more.
pub(super) fn value_at<P: AsRef<[Bucket]>>(parts: &[P], rank: u64) -> u64 {
    if let [only] = parts {
        let buckets = only.as_ref();
        let place = buckets.partition_point(|bucket| bucket.up_to < rank);
        return buckets.get(place).map_or(0, |bucket| bucket.highest);
    }
    let mut windows: Vec<Window<'_>> = parts.iter().map(|part| Window::of(part.as_ref())).collect();
    let highest = |window: &Window<'_>| window.buckets.last().map(|bucket| bucket.highest);
    let (mut low, mut high) = (0, windows.iter().filter_map(highest).max().unwrap_or(0));
    while low < high {
        let middle = low + (high - low) / 2;
        let up_to =
            windows.iter_mut().map(|window| window.up_to(middle)).fold(0, u64::saturating_add);
        if up_to >= rank {
            high = middle;
            windows.iter_mut().for_each(Window::keep_below);
        } else {
            low = middle + 1;
            windows.iter_mut().for_each(Window::keep_above);
        }
    }
    high
}

/// The buckets of a part among which the value may still lie.
struct Window<'b> {
    buckets: &'b [Bucket],
    /// Values in the buckets below the window.
    below: u64,
    /// Buckets of the window at or below the value that was asked about last.
    place: usize,
}

impl<'b> Window<'b> {
    fn of(buckets: &'b [Bucket]) -> Self {
        Self { buckets, below: 0, place: 0 }
    }

    /// How many values lie at or below one.
    fn up_to(&mut self, value: u64) -> u64 {
        self.place = self.buckets.partition_point(|bucket| bucket.highest <= value);
        self.at_place()
    }

    fn at_place(&self) -> u64 {
        let last = self.place.checked_sub(1).and_then(|last| self.buckets.get(last));
        last.map_or(self.below, |bucket| bucket.up_to)
    }

    fn keep_below(&mut self) {
        self.buckets = &self.buckets[..self.place];
    }

    fn keep_above(&mut self) {
        self.below = self.at_place();
        self.buckets = &self.buckets[self.place..];
    }
}
