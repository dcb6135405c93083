//! The order of imported blocks: whether it is one with the subjects, and what a drift along it may be
//! of their difference (docs/method.md#m-import-order). The order of measured blocks was drawn. Of an
//! unknown one the rows are asked as they were given, file after file: they may have run in it.

use crate::file_order::{Executions, FileOrder, InOrder, OrderedQuestion};
use crate::observations::Observations;
use crate::order_origin::OrderOrigin;
use crate::pairs::Pairs;
use crate::quality::drift;
use crate::questions::Asked;
use crate::trial_facts::is_order_known;
use model::{Plan, Question, Record};
use stats::{TTest, normal_cdf};

/// Level at which a subject stands later in its blocks than the other, by more than chance has it.
const LEVEL: f64 = 0.05;

/// What the order of these pairs says, where they were imported; of one that is not known, what a drift
/// along the files may be of the difference.
pub(crate) fn in_blocks(
    plan: &Plan,
    observations: &Observations<'_>,
    pairs: &Pairs,
    asked: &Asked<'_>,
    test: &TTest,
    theta: f64,
) -> InOrder {
    if plan.imported.is_none() {
        return InOrder::default();
    }
    let (question, origin) = (&asked.question, OrderOrigin::of(plan));
    let trials = |subject: &str| {
        let of_block = |block: u32| observations.trial(block, subject, &question.workload);
        pairs.blocks.iter().filter_map(|pair| of_block(pair.block)).collect::<Vec<&Record>>()
    };
    let sides = [trials(&question.reference), trials(&question.subject)];
    let [reference, subject] = sides
        .each_ref()
        .map(|trials| -> Vec<f64> { trials.iter().map(|trial| trial.sequence as f64).collect() });
    // Means of blocks would leave nothing to tell a drift from the subjects where all have one order.
    let order = FileOrder::of(&[[
        Executions { logs: &pairs.reference, places: &reference },
        Executions { logs: &pairs.subject, places: &subject },
    ]]);
    let along_file = order.map(|order| {
        let asked = OrderedQuestion {
            question,
            is_pure: is_after(&reference, &subject) || is_after(&subject, &reference),
            test: Some(*test),
            has_drifted: &|| drift(&pairs.reference, theta).is_some(),
            origin,
        };
        order.says(&asked, theta, plan.alpha)
    });
    let along_file = along_file.unwrap_or_default();
    if !is_order_known(plan) {
        return InOrder { confounded: None, ..along_file };
    }
    let in_a_block = || {
        let both = sides[0].iter().zip(&sides[1]);
        let later: Vec<f64> =
            both.map(|(one, other)| f64::from(other.position) - f64::from(one.position)).collect();
        stands_apart(&later, question, origin)
    };
    InOrder { confounded: along_file.confounded.or_else(in_a_block), ..along_file }
}

/// Whether all these places come after all of the others.
pub(crate) fn is_after(these: &[f64], others: &[f64]) -> bool {
    let first = these.iter().copied().fold(f64::INFINITY, f64::min);
    others.iter().all(|other| *other < first)
}

/// How the subject stands before or after the reference inside blocks, by how many places it comes
/// later in each, where that is no accident: what changes inside a block is then a difference between
/// them. A Latin square has each subject in each place, and adds up to nothing.
fn stands_apart(later: &[f64], question: &Question, origin: OrderOrigin) -> Option<String> {
    let sum: f64 = later.iter().sum();
    is_apart(later).then(|| {
        let mean = sum.abs() / later.len() as f64;
        let side = if sum < 0.0 { "before" } else { "after" };
        let (subject, reference) = (&question.subject, &question.reference);
        let (stands, told) = match origin {
            OrderOrigin::Measured | OrderOrigin::Rows => ("stands", ""),
            OrderOrigin::Column => ("comes", ", as a column of the file tells"),
            OrderOrigin::Times => ("comes", ", by the times that the files hold"),
        };
        format!(
            "inside a block {subject} {stands} {mean:.1} places {side} {reference} on average{told}: \
             what changes there may be their difference"
        )
    })
}

/// Whether these numbers of places are all on one side, or further from nought than chance has it.
pub(crate) fn is_apart(later: &[f64]) -> bool {
    let sum: f64 = later.iter().sum();
    let squares: f64 = later.iter().map(|one| one * one).sum();
    let is_one_sided = later.iter().all(|one| *one > 0.0) || later.iter().all(|one| *one < 0.0);
    // Either sign is as likely in each block: the normal distribution, corrected for continuity.
    let p = 2.0 * normal_cdf((1.0 - sum.abs()) / squares.sqrt());
    later.len() > 1 && squares > 0.0 && (is_one_sided || p < LEVEL)
}

#[cfg(test)]
mod tests {
    use super::stands_apart;
    use crate::fixtures::{metric, noticing, plan, record};
    use crate::order_origin::OrderOrigin;
    use crate::{GateLimit, GateOutcome, gate, judge};
    use model::{
        Caveat, CaveatCode, Direction, Finding, Findings, ImportedOrder, Metric, Obstacle, Plan,
        Record, Reduction, Sample, Strength, Verdict,
    };

    const ONE: [f64; 10] = [0.3, -0.7, 0.1, 0.9, -0.4, -0.2, 0.6, -0.9, 0.2, -0.1];
    const OTHER: [f64; 10] = [-0.5, 0.4, -0.1, 0.8, -0.8, 0.3, 0.7, -0.3, -0.6, 0.1];

    /// The subjects of a table row by row, in ten blocks each of which has a value of both: the nth
    /// of `a` and of `b`. Each has 0.5 % of noise; what it drifts by stands in `drift`, by its place
    /// from 0 to 1 and by that in its block, and `b` has `effect` besides.
    fn judged(
        rows: &str,
        order: ImportedOrder,
        drift: impl Fn(f64, u32) -> f64,
        effect: f64,
    ) -> Findings {
        judged_as(rows, Some((order, Vec::new())), drift, effect)
    }

    fn judged_as(
        rows: &str,
        imported: Option<(ImportedOrder, Vec<Caveat>)>,
        drift: impl Fn(f64, u32) -> f64,
        effect: f64,
    ) -> Findings {
        let mut records: Vec<Record> = Vec::new();
        let last = rows.len() as f64 - 1.0;
        for (row, subject) in rows.chars().enumerate() {
            let of = |id: &str| records.iter().filter(|record| record.subject == id).count();
            let block = of(&subject.to_string());
            let position = records.iter().filter(|one| one.block as usize == block).count() as u32;
            let (noise, own) = match subject {
                'a' => (ONE[block], 0.0),
                _ => (OTHER[block], effect),
            };
            let log = 0.005 * noise + own + drift(row as f64 / last, position);
            let samples = vec![vec![Sample::values("m", vec![100.0 * log.exp()])]];
            let mut next = record(block as u32, &subject.to_string(), "w", samples);
            next.position = position;
            next.sequence = row as u64;
            next.boot_id.clear();
            records.push(next);
        }
        let metric = metric("m", Direction::Lower, Reduction::Mean);
        let plan = plan(&["a", "b"], vec![Metric { margin: 0.002, ..metric }], 10);
        let imported = imported.map(|(order, caveats)| noticing(caveats, order));
        judge(&Plan { imported, ..plan }, &records)
    }

    fn has(finding: &Finding, code: CaveatCode) -> bool {
        finding.caveats.iter().any(|caveat| caveat.code == code)
    }

    fn outcome(findings: &Findings) -> GateOutcome {
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.02 };
        gate(findings, &[limit]).unwrap()[0].outcome
    }

    /// Drawn; alternating; b before a in one block; sorted by subject.
    const DRAWN: &str = "abbababaabbaabababba";
    const ONCE_FIRST: &str = "ababababbaababababab";
    const SORTED: &str = "aaaaaaaaaabbbbbbbbbb";

    #[test]
    fn a_subject_that_seldom_ran_first_is_never_clearly_different_and_passes_no_gate() {
        for order in [ImportedOrder::Column, ImportedOrder::Rows] {
            // What ran second takes 3 % more, whichever it is.
            let second = |_: f64, position: u32| 0.03 * f64::from(position);
            let findings = judged(ONCE_FIRST, order, second, 0.0);
            let one = &findings.findings[0];
            assert!(has(one, CaveatCode::OrderConfounded) && one.is_order_fixed, "{one:?}");
            assert_ne!(one.strength, Some(Strength::Clearly));
            assert_eq!(outcome(&findings), GateOutcome::Inconclusive);
        }
    }

    #[test]
    fn blocks_of_no_known_order_have_verdicts_that_are_never_clear_and_pass_no_gate() {
        for rows in [DRAWN, ONCE_FIRST, SORTED] {
            for (effect, expected) in [
                (0.0, None),
                (0.3, Some((Verdict::Worse, Strength::Detectable))),
                (-0.3, Some((Verdict::Better, Strength::Detectable))),
            ] {
                let findings = judged(rows, ImportedOrder::Unknown, |_, _| 0.0, effect);
                let one = &findings.findings[0];
                let is_of_order = |one: &&Caveat| one.code == CaveatCode::OrderConfounded;
                let told = &one.caveats.iter().find(is_of_order).unwrap().detail;
                assert!(told.starts_with("the order in which the subjects"), "{told}");
                assert!(told.contains("a column of times"), "{told}");
                assert_eq!(one.strength.map(|strength| (one.verdict, strength)), expected);
                assert!(one.is_order_fixed);
                assert_eq!(outcome(&findings), GateOutcome::Inconclusive, "{rows} {effect}");
            }
        }
        // A drift that is too small to be seen may be all of the difference, too, where the rows lie in
        // such an order that it is one.
        for (rows, obstacle) in [(SORTED, Some(Obstacle::DriftAlone)), (DRAWN, None)] {
            let drifting = |place: f64, _| if rows == SORTED { 0.01 * place } else { 0.0 };
            let effect = if rows == SORTED { 0.0 } else { 0.01 };
            let findings = judged(rows, ImportedOrder::Unknown, drifting, effect);
            let one = &findings.findings[0];
            assert_eq!(one.obstacle, obstacle, "{one:?}");
            assert_eq!(one.verdict == Verdict::Worse, obstacle.is_none(), "{one:?}");
        }
        // A drift that is seen may be all of the difference.
        let findings = judged(SORTED, ImportedOrder::Unknown, |place, _| 0.3 * place, 0.0);
        let one = &findings.findings[0];
        assert_eq!(
            (one.verdict, one.obstacle),
            (Verdict::Inconclusive, Some(Obstacle::DriftInOrder)),
            "{one:?}"
        );
        // What the import says of it itself is not said twice.
        let told = Caveat::new(CaveatCode::OrderConfounded, "the rows of every block have a, b");
        let unknown = Some((ImportedOrder::Unknown, vec![told.clone()]));
        let findings = judged_as(SORTED, unknown, |_, _| 0.0, 0.3);
        let mut caveats = findings.findings[0].caveats.iter();
        assert_eq!(caveats.find(|one| one.code == CaveatCode::OrderConfounded), Some(&told));
        assert!(caveats.all(|one| one.code != CaveatCode::OrderConfounded));
    }

    #[test]
    fn a_subject_stands_apart_where_it_seldom_comes_first_and_not_in_a_latin_square() {
        let question = fixtures::question("w", "m", "b", "a");
        let of = |later: &[f64]| stands_apart(later, &question, OrderOrigin::Rows);
        // So many blocks of two, in so many of which b comes first: more seldom than p = 0.05, or never.
        let two = |first: usize, blocks: usize| {
            let mut later = vec![1.0; blocks];
            later[..first].fill(-1.0);
            of(&later).is_some()
        };
        let apart = [(0, 5), (0, 10), (1, 10), (2, 12), (5, 20), (9, 10), (10, 10)];
        assert!(apart.iter().all(|(first, blocks)| two(*first, *blocks)));
        let mixed = [(1, 6), (1, 8), (2, 10), (5, 10), (3, 12), (6, 20), (14, 20)];
        assert!(!mixed.iter().any(|(first, blocks)| two(*first, *blocks)));
        // Five subjects, each of which follows the one before it in four blocks of five.
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, -4.0].repeat(4)), None);
        assert_eq!(of(&[0.0; 8]), None, "no places");
        let told = "inside a block b stands 2.0 places before a on average: what changes there may be their difference";
        assert_eq!(of(&[-2.0, -3.0, -1.0]).as_deref(), Some(told));
        let by_column = stands_apart(&[-2.0, -3.0, -1.0], &question, OrderOrigin::Column).unwrap();
        assert!(
            by_column.contains("b comes 2.0 places before a on average, as a column"),
            "{by_column}"
        );
    }

    #[test]
    fn a_table_that_is_sorted_by_subject_has_no_difference_that_a_drift_may_be() {
        for order in [ImportedOrder::Column, ImportedOrder::Rows] {
            // The drift is too small for a warning of its own.
            let findings = judged(SORTED, order, |place, _| 0.01 * place, 0.0);
            let one = &findings.findings[0];
            assert_eq!(
                (one.verdict, one.obstacle),
                (Verdict::Inconclusive, Some(Obstacle::DriftAlone)),
                "{one:?}"
            );
            assert!(has(one, CaveatCode::OrderConfounded));
            assert_eq!(outcome(&findings), GateOutcome::Inconclusive);
            // What stands beside a drift is said, and never clear.
            let large = judged(SORTED, order, |_, _| 0.0, 0.3);
            let one = &large.findings[0];
            assert_eq!((one.verdict, one.strength), (Verdict::Worse, Some(Strength::Detectable)));
            assert_eq!(outcome(&large), GateOutcome::Inconclusive);
        }
    }

    #[test]
    fn an_effect_of_the_order_is_told_by_what_shows_the_order() {
        let second = |_: f64, position: u32| 0.03 * f64::from(position);
        let told = |order: Option<ImportedOrder>| {
            let imported = order.map(|order| (order, Vec::new()));
            let findings = judged_as(DRAWN, imported, second, 0.0);
            let is_of_order = |one: &&Caveat| one.code == CaveatCode::OrderEffect;
            findings.findings[0].caveats.iter().find(is_of_order).unwrap().detail.clone()
        };
        for (order, words) in [
            (None, "the subject ran first differ"),
            (Some(ImportedOrder::Column), "came first, as a column of the file tells, differ"),
            (Some(ImportedOrder::Rows), "the subject stood first in the file differ"),
        ] {
            assert!(told(order).contains(words), "{}", told(order));
        }
    }

    #[test]
    fn a_sorted_table_is_in_the_order_that_is_known_of_it() {
        let told = |order: ImportedOrder| {
            let findings = judged(SORTED, order, |_, _| 0.0, 0.3);
            let is_of_order = |one: &&Caveat| one.code == CaveatCode::OrderConfounded;
            findings.findings[0].caveats.iter().find(is_of_order).unwrap().detail.clone()
        };
        assert!(told(ImportedOrder::Rows).starts_with("in the file's order all values"));
        let by_column = told(ImportedOrder::Column);
        assert!(
            by_column.starts_with("in the order that a column of the file tells"),
            "{by_column}"
        );
    }

    #[test]
    fn what_an_import_says_of_its_order_is_not_said_twice() {
        let told = Caveat::new(CaveatCode::OrderConfounded, "every block ran a, b in this order");
        let rows = Some((ImportedOrder::Rows, vec![told.clone()]));
        let findings = judged_as("abababababababababab", rows, |_, _| 0.0, 0.3);
        let one = &findings.findings[0];
        let of_order = one.caveats.iter().filter(|one| one.code == CaveatCode::OrderConfounded);
        assert_eq!(of_order.collect::<Vec<_>>(), [&told]);
        assert_eq!(outcome(&findings), GateOutcome::Inconclusive);
    }

    #[test]
    fn a_drawn_order_without_a_drift_is_judged_as_that_of_a_measured_campaign() {
        // The reasons name what tells the order; all else is the same.
        let alike = |of: &Findings| {
            let mut of = of.clone();
            of.findings.iter_mut().for_each(|finding| finding.reason = None);
            of.findings
        };
        for effect in [0.0, 0.3, -0.3] {
            let measured = judged_as(DRAWN, None, |_, _| 0.0, effect);
            for order in [ImportedOrder::Column, ImportedOrder::Rows] {
                let imported = judged(DRAWN, order, |_, _| 0.0, effect);
                assert_eq!(alike(&imported), alike(&measured), "{effect}");
                assert!(!has(&imported.findings[0], CaveatCode::OrderConfounded));
                assert_eq!(outcome(&imported), outcome(&measured));
            }
        }
    }
}
