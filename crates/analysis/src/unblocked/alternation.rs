//! Whether one subject follows the other so regularly that what an execution leaves behind for the next
//! cannot be told from their difference (docs/method.md#m-unblocked). Rows in blocks are asked of by
//! their blocks.

use super::samples::Samples;
use crate::block_order::is_apart;
use crate::file_order::places_in_order;
use crate::order_origin::OrderOrigin;
use stats::normal_cdf;

/// Level at which turns repeat their order more often than drawn ones: of 5 to 40 turns in a drawn order
/// at most 2 in 100 do.
const REPEATS_LEVEL: f64 = 0.02;
/// Level at which executions that do not come in turns change their subject more often than shuffled
/// ones.
const CHANGES_LEVEL: f64 = 0.005;
/// Fewer turns give no verdict, and often have one order by chance.
const LEAST_TURNS: usize = 5;
/// Of more coins the normal distribution is as good.
const MOST_COINS: usize = 100;

/// How the executions of two subjects follow each other, over all strata.
#[derive(Debug, Default)]
struct Alternation {
    /// Of each turn, whether the subject came second (1) or first (-1).
    later: Vec<f64>,
    /// Whether every stratum is a row of turns, in each of which both subjects ran once; the last may
    /// lack one.
    has_turns: bool,
    /// Turns with the order of the one before them, and how many have one before them.
    repeats: [usize; 2],
    /// Executions that follow one of the other subject, what a shuffled order has, and its variance
    /// (Wald and Wolfowitz 1940).
    changes: f64,
    expected: f64,
    variance: f64,
}

impl Alternation {
    /// That of strata, each with where in the file the executions of reference and subject begin.
    fn of<'a>(strata: impl Iterator<Item = &'a [Vec<f64>; 2]>) -> Self {
        let mut all = Self { has_turns: true, ..Self::default() };
        for [reference, subject] in strata {
            let order = places_in_order(reference, subject);
            let order: Vec<bool> = order.into_iter().map(|(_, is_subject)| is_subject).collect();
            all.add(&order);
        }
        all
    }

    fn add(&mut self, order: &[bool]) {
        let turns = || order.chunks_exact(2);
        self.has_turns &= turns().all(|turn| turn[0] != turn[1]);
        self.later.extend(turns().map(|turn| if turn[1] { 1.0 } else { -1.0 }));
        self.repeats[0] += turns().zip(turns().skip(1)).filter(|(one, next)| one == next).count();
        self.repeats[1] += turns().len().saturating_sub(1);
        let count = order.len() as f64;
        let of_subject = order.iter().filter(|is_subject| **is_subject).count() as f64;
        let product = 2.0 * of_subject * (count - of_subject);
        if product > 0.0 {
            self.changes += order.windows(2).filter(|two| two[0] != two[1]).count() as f64;
            self.expected += product / count;
            self.variance += product * (product - count) / (count * count * (count - 1.0));
        }
    }

    /// Whether the turns have one order, or mostly so.
    fn has_one_order(&self) -> bool {
        self.has_turns && self.later.len() >= LEAST_TURNS && is_apart(&self.later)
    }

    /// Whether executions follow one of the other subject more often than chance has it.
    fn is_regular(&self) -> bool {
        if self.has_turns {
            let [repeats, of] = self.repeats;
            return p_of_coins(repeats, of) < REPEATS_LEVEL;
        }
        self.variance > 0.0
            && normal_cdf((self.expected + 0.5 - self.changes) / self.variance.sqrt())
                < CHANGES_LEVEL
    }
}

/// p that of so many fair coins at least so many show the same given side.
fn p_of_coins(shown: usize, of: usize) -> f64 {
    if of > MOST_COINS {
        let (shown, of) = (shown as f64, of as f64);
        return normal_cdf((of + 1.0 - 2.0 * shown) / of.sqrt());
    }
    // From none to all, each the one before it times (of - k) / (k + 1).
    let mut share = 0.5_f64.powi(of as i32);
    let mut p = 0.0;
    for count in 0..=of {
        if count >= shown {
            p += share;
        }
        share *= (of - count) as f64 / (count + 1) as f64;
    }
    p
}

impl Samples<'_> {
    /// How one of the two follows the other, where that is so regular that it may be their difference.
    pub(super) fn alternates(&self, origin: OrderOrigin) -> Option<String> {
        let found = Alternation::of(self.places.values());
        let (reference, subject) = (&self.question.reference, &self.question.subject);
        let in_order = origin.in_order();
        if found.has_one_order() {
            let comes = match origin {
                OrderOrigin::Measured | OrderOrigin::Column | OrderOrigin::Times => "comes",
                OrderOrigin::Rows => "stands",
            };
            let turns = found.later.len();
            let second = found.later.iter().filter(|later| **later > 0.0).count();
            return Some(format!(
                "in {second} of {turns} turns {in_order} {subject} {comes} after {reference}: what one leaves \
                 behind for the next may be their difference"
            ));
        }
        found.is_regular().then(|| {
            format!(
                "{in_order} {reference} and {subject} change {:.0} times, and in a random one {:.0} times: \
                 what one leaves behind for the next may be their difference",
                found.changes, found.expected
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(strata: &[&str]) -> [bool; 2] {
        let of_stratum = |order: &&str| -> [Vec<f64>; 2] {
            ['a', 'b'].map(|subject| {
                let own = order.char_indices().filter(|(_, one)| *one == subject);
                own.map(|(place, _)| place as f64).collect()
            })
        };
        let strata: Vec<[Vec<f64>; 2]> = strata.iter().map(of_stratum).collect();
        let found = Alternation::of(strata.iter());
        [found.has_one_order(), found.is_regular()]
    }

    #[test]
    fn one_that_always_or_mostly_follows_the_other_is_told() {
        for order in
            ["ababababababababababab", "bababababa", "abababababa", "abababababbaababababab"]
        {
            assert!(found(&[order])[0], "{order}");
        }
        // Each is first as often, and follows itself once; not in turns, and follows itself twice.
        for order in ["abababababbababababa", "aababababababababababb"] {
            assert_eq!(found(&[order]), [false, true], "{order}");
        }
        assert!(found(&["abababab", "babababa", "abababab"])[1], "in each of three strata");
        assert!(found(&["ababab", "ababab"])[0]);
    }

    #[test]
    fn drawn_shuffled_and_balanced_orders_are_not() {
        for order in [
            "abbaabbaabbaabbaabba",
            "abbaabba",
            "abbabaabaabbbabaabab",
            "aabbabbaaababbabbaab",
            "abbababaab",
            "abababbabaabbabaab",
            "aaaaaaaaaabbbbbbbbbb",
            "aabbaabbaabbaabb",
            "ab",
            "a",
            "",
        ] {
            assert_eq!(found(&[order]), [false; 2], "{order}");
        }
    }

    #[test]
    fn coins_show_a_side_as_often_as_pascal_s_triangle_has_it() {
        for (shown, of, expected) in
            [(0, 0, 1.0), (0, 4, 1.0), (4, 4, 1.0 / 16.0), (8, 9, 10.0 / 512.0)]
        {
            assert!((p_of_coins(shown, of) - expected).abs() < 1e-12, "{shown} of {of}");
        }
        let (exact, normal) = (p_of_coins(60, 100), p_of_coins(61, 101));
        // scipy.stats.binom.sf(59, 100, 0.5) and sf(60, 101, 0.5).
        assert!((exact - 0.028_443_967).abs() < 1e-8, "{exact}");
        assert!((normal - 0.023_022).abs() < 1e-3, "{normal}");
        assert!(p_of_coins(2_000, 4_000) > 0.4 && p_of_coins(2_200, 4_000) < 1e-6);
    }

    /// One of 2^64 states.
    fn coin(state: &mut u64) -> usize {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    #[test]
    fn of_orders_that_were_drawn_at_most_five_in_a_hundred_are_told() {
        for runs in [8, 10, 12, 16, 20, 40] {
            let mut state = 7;
            let (mut in_turns, mut shuffled) = (0, 0);
            for _ in 0..4_000 {
                let turns: String = (0..runs).map(|_| ["ab", "ba"][coin(&mut state) % 2]).collect();
                in_turns += usize::from(found(&[&turns]) != [false; 2]);
                let mut rows: Vec<char> = "ab".repeat(runs).chars().collect();
                for row in (1..rows.len()).rev() {
                    rows.swap(row, coin(&mut state) % (row + 1));
                }
                let rows: String = rows.into_iter().collect();
                shuffled += usize::from(found(&[&rows]) != [false; 2]);
            }
            assert!(in_turns <= 230, "{in_turns} of 4,000 with {runs} turns");
            assert!(shuffled <= 60, "{shuffled} of 4,000 with {runs} runs");
        }
    }
}
