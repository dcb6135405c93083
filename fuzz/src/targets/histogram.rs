//! Stored histograms: what is decoded is encoded to the same counts.

use super::{OwnTarget, Reaction, on_text};
use model::Histogram;

pub const TARGET: OwnTarget =
    OwnTarget { name: "histogram", words: &["HISTFAAAA", "AAAA", "==", "x5wB"], run };

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let histogram = Histogram::decode(text).ok();
        if let Some(histogram) = &histogram {
            let again = Histogram::decode(&histogram.encode());
            let buckets: Vec<_> = histogram.buckets().collect();
            assert_eq!(again.ok().map(|again| again.buckets().collect()), Some(buckets));
            assert_eq!(histogram.quantile(0.5).is_some(), histogram.count() > 0);
        }
        Reaction::of(histogram.as_ref())
    })
}
