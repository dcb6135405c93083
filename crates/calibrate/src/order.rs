//! Target 7: all runs of one subject before those of the other. The planner
//! refuses it; this shows what it would say.

use crate::CalibrationRequest;
use crate::campaigns::{Case, SimulatedCampaign, plan, records, repeat};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::false_positives::differs;
use crate::naive::{pooled_ranks, says_different};
use crate::rate::Rate;
use crate::table::Limit;
use model::{Block, Plan};

/// Target 7 (docs/method.md#m-targets).
const LEAST: f64 = 0.90;
const CASE: Case =
    Case { scenario: "S5", blocks: 10, effect_percent: 0.0, subjects: 2, workloads: 1 };
const ALPHA: f64 = 0.05;

/// The same sittings, all of the first subject before all of the second.
fn one_after_the_other(plan: &Plan) -> Plan {
    let subjects = (0_u32..).zip(&plan.subjects);
    let blocks = subjects.flat_map(|(turn, subject)| {
        plan.blocks.iter().map(move |block| Block {
            index: turn * CASE.blocks + block.index,
            sittings: block
                .sittings
                .iter()
                .filter(|sitting| sitting.subject == subject.id)
                .cloned()
                .collect(),
        })
    });
    Plan { blocks: blocks.collect(), ..plan.clone() }
}

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let row = |target, what: &str, limit| {
        PromisedRow::new(target, format!("one subject after the other: {what}"), limit)
    };
    let rows = [
        row(Some(7), "refused by plan", Limit::AtLeast(1.0)),
        row(Some(7), "pooled Mann-Whitney, S5", Limit::AtLeast(LEAST)),
        // Boots are not shared here, as they are not where people do this; the
        // noise they add hides some of the damage.
        row(None, "paired t, S5", Limit::None),
    ];
    vec![CalibrationCell::of(rows, |request| {
        let wrong = repeat(request, |repetition| {
            let plan = plan(request, &CASE, repetition)?;
            let mut records = records(request, &one_after_the_other(&plan))?;
            for record in &mut records {
                record.block %= CASE.blocks;
            }
            let findings = analysis::judge(&plan, &records);
            let campaign = SimulatedCampaign { plan, records, findings };
            Ok([says_different(&campaign, pooled_ranks), differs(&campaign, ALPHA)])
        })?;
        let mut rates = vec![Rate::of([is_refused(request)])];
        rates.extend(Rate::of_each(2, &wrong));
        Ok(rates)
    })]
}

/// Whether the planner refuses such an order.
fn is_refused(request: &CalibrationRequest<'_>) -> bool {
    let text = format!("order = \"sequential\"\n{}", CASE.experiment());
    let asked =
        plan::PlanRequest { text: &text, name: "calibration", ..plan::PlanRequest::default() };
    plan::plan(&request.catalogue, &[], &asked).is_err_and(|problems| {
        problems.iter().any(|problem| problem.cause.contains("order `sequential` is refused"))
    })
}
