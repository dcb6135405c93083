//! What was chosen of an import while its numbers were there: `POST_HOC_MARGIN`.
//!
//! An option and a mapping are alike in that: nobody can know that they were written before the
//! data were seen. What is left at its default was chosen by nobody.

use model::{Caveat, CaveatCode, Comparisons, DEFAULT_ALPHA, GivenChoices, Metric, Plan};
use std::collections::BTreeSet;

/// So many metrics are named; others are counted.
const MOST_NAMED: usize = 8;

/// What a format would have done of itself, where the user said something else.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ImportChoices {
    /// Ids of the metrics that it would have judged; those that the table has where none.
    pub usual: Option<Vec<String>>,
    /// Ids of metrics that are better the other way, by its own word.
    pub turned: BTreeSet<String>,
    /// Columns of numbers that look measured and are no metrics.
    pub left_out: BTreeSet<String>,
    /// Columns that were named as the order of rows, and hold neither times nor the file's order.
    pub orders: BTreeSet<String>,
}

/// A caveat for each choice that can change an answer. `usual` are the metrics that the format
/// would have judged; all of them where it names none.
pub(crate) fn choices(
    given_margin: Option<f64>,
    usual: &[String],
    of_format: &ImportChoices,
    plan: &Plan,
) -> Vec<Caveat> {
    let chosen = [
        given_margin.map(margin),
        alpha(plan.alpha),
        metrics(usual, plan),
        directions(&of_format.turned, plan),
        columns(&of_format.left_out),
        orders(&of_format.orders),
        pairs(plan),
    ];
    let caveat = |detail: String| Caveat::new(CaveatCode::PostHocMargin, detail);
    chosen.into_iter().flatten().map(caveat).collect()
}

/// Those of them that verdicts depend on, where `own` are the metrics as their format has them. Of
/// metrics, columns and pairs nobody can count what there was to choose from: they are told alone.
pub(crate) fn given(of_format: &ImportChoices, own: &[Metric], plan: &Plan) -> GivenChoices {
    let Some(workload) = plan.workloads.first() else { return GivenChoices::default() };
    let has_other = |metric: &&Metric| {
        let mut judged = workload.metrics.iter();
        judged.any(|one| one.id == metric.id && one.margin != metric.margin)
    };
    let other = own.iter().filter(has_other);
    let is_turned = |id: &&String| of_format.turned.contains(*id);
    GivenChoices {
        usual_margins: other.map(|metric| (metric.id.clone(), metric.margin)).collect(),
        turned: workload.primary.iter().filter(is_turned).cloned().collect(),
        is_order_chosen: orders(&of_format.orders).is_some(),
    }
}

fn margin(margin: f64) -> String {
    let percent = format!("{} %", model::percent(margin, 3)).replace(".000 %", " %");
    format!("a margin of {percent} was given together with the data")
}

fn alpha(alpha: f64) -> Option<String> {
    (alpha != DEFAULT_ALPHA).then(|| {
        format!("a level of {alpha} instead of {DEFAULT_ALPHA} was given together with the data")
    })
}

/// Other metrics than the usual ones.
fn metrics(usual: &[String], plan: &Plan) -> Option<String> {
    let workload = plan.workloads.first()?;
    let judged: Vec<&str> = workload.primary.iter().map(String::as_str).collect();
    let usual: Vec<&str> = if usual.is_empty() {
        workload.metrics.iter().map(|metric| metric.id.as_str()).collect()
    } else {
        usual.iter().map(String::as_str).collect()
    };
    let own: BTreeSet<&str> = judged.iter().copied().collect();
    let without: BTreeSet<&str> = usual.iter().copied().collect();
    (own != without).then(|| {
        format!(
            "what is judged was given together with the data: {}; else it is {}",
            named(&judged),
            named(&usual)
        )
    })
}

/// Metrics that are judged and better the other way than their format has it.
fn directions(turned: &BTreeSet<String>, plan: &Plan) -> Option<String> {
    let primary = &plan.workloads.first()?.primary;
    let judged: Vec<&str> =
        primary.iter().filter(|id| turned.contains(*id)).map(String::as_str).collect();
    (!judged.is_empty()).then(|| {
        format!(
            "which way {} is better was given together with the data, against what the format says",
            named(&judged)
        )
    })
}

/// Columns of numbers that could have been metrics.
fn columns(left_out: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = left_out.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "is" } else { "are" };
        format!(
            "which columns of numbers are metrics was given together with the data: {} {verb} left out",
            named(&names)
        )
    })
}

/// An order of rows that nothing but the user's word makes one.
fn orders(orders: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = orders.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the order of rows was given together with the data: that of {}, which is neither one of times nor the file's",
            named(&names)
        )
    })
}

/// One reference of several subjects: fewer comparisons, between which no error rate is shared.
fn pairs(plan: &Plan) -> Option<String> {
    let count = plan.subjects.len();
    let first = plan.subjects.first()?;
    let is_chosen = plan.comparisons == Comparisons::Reference && count > 2;
    is_chosen.then(|| {
        format!(
            "which pairs are compared was given together with the data: those with {}, {} of {}",
            first.id,
            count - 1,
            count * (count - 1) / 2
        )
    })
}

fn named(ids: &[&str]) -> String {
    let (shown, more) = ids.split_at(ids.len().min(MOST_NAMED));
    let rest = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
    format!("{}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture;
    use crate::tidy::CSV;
    use crate::{ImportFile, ImportSettings, Mapping, import};

    const TABLE: &str = "s,v,w\na,1,2\na,2,3\nb,1,2\nb,2,3\nc,1,2\nc,2,3\n";

    fn mapping(primary: &[&str]) -> Mapping {
        Mapping {
            subject: Some("s".to_owned()),
            values: ["v:lower", "w:lower"].map(|text| Mapping::value(text).unwrap()).into(),
            primary: primary.iter().map(|id| (*id).to_owned()).collect(),
            ..Mapping::default()
        }
    }

    fn told(text: &str, mapping: &Mapping, settings: &ImportSettings) -> Vec<String> {
        let source = ImportFile { subject: "x", execution: 1, bytes: text.as_bytes() };
        let imported = import(&CSV, &[source], mapping, settings).unwrap().plan.imported.unwrap();
        let own = imported.caveats.into_iter().filter(|one| one.code == CaveatCode::PostHocMargin);
        own.map(|caveat| caveat.detail).collect()
    }

    #[test]
    fn what_nobody_chose_is_no_choice() {
        let usual = picture::settings();
        assert_eq!(told(TABLE, &mapping(&[]), &usual), Vec::<String>::new());
        // All metrics, in whatever order, and a subject that the others are told beside.
        assert_eq!(told(TABLE, &mapping(&["w", "v"]), &usual), Vec::<String>::new());
        let turned = ImportSettings { reference: Some("b".to_owned()), ..usual.clone() };
        assert_eq!(told(TABLE, &mapping(&[]), &turned), Vec::<String>::new());
        // Of two subjects there is one pair.
        let two = TABLE.split("c,").next().unwrap();
        let pairs = ImportSettings { comparisons: Comparisons::Reference, ..usual };
        assert_eq!(told(two, &mapping(&[]), &pairs), Vec::<String>::new());
    }

    #[test]
    fn of_choices_those_that_decide_stand_in_the_plan() {
        let usual = picture::settings();
        let given = |primary: &[&str], settings: &ImportSettings| {
            let source = ImportFile { subject: "x", execution: 1, bytes: TABLE.as_bytes() };
            let imported = import(&CSV, &[source], &mapping(primary), settings).unwrap();
            imported.plan.imported.unwrap().given
        };
        assert_eq!(given(&[], &usual), GivenChoices::default());
        let own = ImportSettings { margin: Some(0.02), ..usual.clone() };
        assert_eq!(given(&[], &own), GivenChoices::default(), "the one that it has anyway");
        let wide = given(&[], &ImportSettings { margin: Some(0.5), ..usual.clone() });
        let margins = [("v".to_owned(), 0.02), ("w".to_owned(), 0.02)];
        assert_eq!(wide, GivenChoices { usual_margins: margins.into(), ..GivenChoices::default() });
        let pairs = ImportSettings { comparisons: Comparisons::Reference, ..usual.clone() };
        for told_alone in [given(&["w"], &usual), given(&[], &pairs)] {
            assert_eq!(told_alone, GivenChoices::default());
        }
        let source = ImportFile { subject: "x", execution: 1, bytes: TABLE.as_bytes() };
        let plan = import(&CSV, &[source], &mapping(&[]), &usual).unwrap().plan;
        let names = |name: &str| BTreeSet::from([name.to_owned()]);
        let left_out = ImportChoices { left_out: names("w"), ..ImportChoices::default() };
        assert_eq!(super::given(&left_out, &[], &plan), GivenChoices::default());
        let ordered = ImportChoices { orders: names("w"), ..ImportChoices::default() };
        let decides = GivenChoices { is_order_chosen: true, ..GivenChoices::default() };
        assert_eq!(super::given(&ordered, &[], &plan), decides);
    }

    #[test]
    fn a_column_of_measured_numbers_that_is_left_out_is_named() {
        let usual = picture::settings();
        let values = [5.31, 4.97, 5.22, 5.08, 5.17, 4.91];
        let table = |column: &str, of_row: &dyn Fn(usize) -> String| {
            let mut text = format!("s,v,{column}\n");
            for (row, value) in values.iter().enumerate() {
                let subject = ["a", "b"][row % 2];
                text += &format!("{subject},{value},{}\n", of_row(row));
            }
            text
        };
        let one = Mapping { values: vec![Mapping::value("v:lower").unwrap()], ..mapping(&[]) };
        let left_out = |column: &str, of_row: &dyn Fn(usize) -> String| {
            told(&table(column, of_row), &one, &usual)
        };
        let measured = |row: usize| format!("{}", 90.0 - 3.0 * values[(row + 2) % 6]);
        assert_eq!(
            left_out("p99", &measured),
            [
                "which columns of numbers are metrics was given together with the data: p99 is left out"
            ]
        );
        // Numbers of rows and runs, times, words, and what hardly varies.
        assert_eq!(left_out("n", &|row| row.to_string()), [""; 0]);
        assert_eq!(left_out("run", &measured), [""; 0]);
        assert_eq!(left_out("seed", &measured), [""; 0]);
        assert_eq!(left_out("host", &|_| "lab".to_owned()), [""; 0]);
        assert_eq!(left_out("errors", &|row| (row % 2).to_string()), [""; 0]);
    }

    #[test]
    fn a_direction_and_a_headline_that_are_not_the_format_s_own_are_named() {
        let of = |seconds: u32, cycles: u32| {
            format!(
                "# started on {seconds}\n{},,instructions,7,100.00,,\n{cycles},,cycles,7,100.00,,\n",
                2 * cycles
            )
        };
        let files: Vec<String> = (0..4).map(|one| of(one, 900 + 7 * one)).collect();
        let told = |better: &[(&str, crate::MappingDirection)]| -> Vec<String> {
            let better = better.iter().map(|(event, way)| ((*event).to_owned(), *way)).collect();
            let mapping = Mapping { better, ..Mapping::default() };
            let files: Vec<(&str, &[u8])> = files
                .iter()
                .enumerate()
                .map(|(index, file)| (["a", "b"][index % 2], file.as_bytes()))
                .collect();
            let campaign = picture::imported(&crate::perf_stat::ENTRY, &files, &mapping).unwrap();
            let caveats = campaign.plan.imported.unwrap().caveats.into_iter();
            let own = caveats.filter(|one| one.code == CaveatCode::PostHocMargin);
            own.map(|caveat| caveat.detail).collect()
        };
        let (lower, higher) = (crate::MappingDirection::Lower, crate::MappingDirection::Higher);
        assert_eq!(told(&[]), [""; 0]);
        assert_eq!(told(&[("cycles", lower)]), [""; 0], "as the format has it");
        assert_eq!(
            told(&[("cycles", higher)]),
            [
                "which way cycles is better was given together with the data, against what the format says"
            ]
        );
        assert_eq!(
            told(&[("instructions", lower)]),
            ["what is judged was given together with the data: instructions; else it is cycles"]
        );
    }

    #[test]
    fn each_choice_that_came_with_the_data_is_named() {
        let usual = picture::settings();
        let cases: [(ImportSettings, &[&str], &str); 7] = [
            (
                ImportSettings { margin: Some(0.05), ..usual.clone() },
                &[],
                "a margin of 5 % was given together with the data",
            ),
            (
                ImportSettings { margin: Some(0.0025), ..usual.clone() },
                &[],
                "a margin of 0.250 % was given together with the data",
            ),
            (
                ImportSettings { margin: Some(1e308), ..usual.clone() },
                &[],
                "a margin of 1.00e310 % was given together with the data",
            ),
            (
                ImportSettings { alpha: 0.2, ..usual.clone() },
                &[],
                "a level of 0.2 instead of 0.05 was given together with the data",
            ),
            (
                ImportSettings { alpha: 0.001, ..usual.clone() },
                &[],
                "a level of 0.001 instead of 0.05 was given together with the data",
            ),
            (
                usual.clone(),
                &["w"],
                "what is judged was given together with the data: w; else it is v, w",
            ),
            (
                ImportSettings {
                    comparisons: Comparisons::Reference,
                    reference: Some("c".to_owned()),
                    ..usual.clone()
                },
                &[],
                "which pairs are compared was given together with the data: those with c, 2 of 3",
            ),
        ];
        for (settings, primary, expected) in cases {
            assert_eq!(told(TABLE, &mapping(primary), &settings), [expected]);
        }
        let all = ImportSettings {
            margin: Some(0.05),
            alpha: 0.1,
            comparisons: Comparisons::Reference,
            ..usual
        };
        assert_eq!(told(TABLE, &mapping(&["v"]), &all).len(), 4);
    }
}
