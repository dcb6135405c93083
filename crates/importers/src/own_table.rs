//! Tables that schedlab wrote (the report format `csv`), known by their exact columns.

use csv::StringRecord;

/// Columns that tell where a trial stands: in blocks, and without.
const PLACES: [&[&str]; 2] = [&["block", "position"], &["execution"]];
/// Columns behind them, the caveats last.
const COLUMNS: [&str; 12] = [
    "subject",
    "workload",
    "outcome",
    "invocation",
    "source",
    "kind",
    "index",
    "value",
    "count",
    "unit",
    "detail",
    "caveats",
];
/// Columns that earlier versions did not write.
const LATER: [&str; 2] = ["attempt", "attempt_of_plan"];

/// Where the codes of caveats stand in a table of ours; none in any other table.
pub(crate) fn place_of_caveats(header: &StringRecord) -> Option<usize> {
    let known: Vec<&str> = header.iter().collect();
    let place = PLACES.into_iter().find(|place| known.starts_with(place))?;
    let end = place.len() + COLUMNS.len();
    let later = known.get(end..)?;
    let is_ours =
        known[place.len()..end] == COLUMNS && (later.is_empty() || later == LATER.as_slice());
    is_ours.then_some(end - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{imported, picture, read};
    use crate::tidy::{CSV, TSV};
    use crate::{Assembled, Mapping};
    use model::CaveatCode;

    const HEADER: &str = "block,position,subject,workload,outcome,invocation,source,kind,index,value,\
                          count,unit,detail,caveats,attempt,attempt_of_plan";

    fn place(header: &str) -> Option<usize> {
        place_of_caveats(&StringRecord::from(header.split(',').collect::<Vec<_>>()))
    }

    /// Two subjects in six blocks, with these caveats.
    fn table(header: &str, caveats: [&str; 2]) -> String {
        let mut text = format!("{header}\n");
        for block in 0..6 {
            for (position, subject) in ["a", "b"].into_iter().enumerate() {
                let codes = caveats[position];
                let value = 100 + (7 * block + 3 * position) % 11;
                text.push_str(&format!(
                    "{block},{position},{subject},w,completed,0,t,iteration,0,{value}.5,,ns,,{codes},1,1\n"
                ));
            }
        }
        text
    }

    fn mapping(block: Option<&str>) -> Mapping {
        let replicate = if block.is_some() { Vec::new() } else { vec!["block".to_owned()] };
        Mapping {
            subject: Some("subject".to_owned()),
            block: block.map(str::to_owned),
            replicate,
            metric: Some("source".to_owned()),
            unit: Some("unit".to_owned()),
            values: vec![Mapping::value("value:lower").unwrap()],
            ..Mapping::default()
        }
    }

    fn import(text: &str) -> Assembled {
        imported(&CSV, &[("x", text.as_bytes())], &mapping(Some("block"))).unwrap()
    }

    /// Details of the caveats of an import with this code.
    fn details(found: &Assembled, code: CaveatCode) -> Vec<&str> {
        let caveats = &found.plan.imported.as_ref().unwrap().caveats;
        let with_code = caveats.iter().filter(|caveat| caveat.code == code);
        with_code.map(|caveat| caveat.detail.as_str()).collect()
    }

    #[test]
    fn places_and_numbers_of_attempts_are_no_settings() {
        let text: String = table(HEADER, ["", ""])
            .lines()
            .map(|line| match line.contains(",b,w,") {
                true => line.replace(",1,1", ",2,2") + "\n",
                false => line.to_owned() + "\n",
            })
            .collect();
        assert!(text.contains(",2,2\n"), "{text}");
        assert_eq!(details(&import(&text), CaveatCode::SettingsDiffer), [""; 0]);
    }

    /// Subjects whose records are those of an emulated processor.
    fn emulated(found: &Assembled) -> Vec<&str> {
        let is_emulated = |record: &&model::Record| {
            record.caveats.iter().any(|caveat| caveat.code == CaveatCode::Tcg)
        };
        let mut subjects: Vec<&str> =
            found.records.iter().filter(is_emulated).map(|one| one.subject.as_str()).collect();
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    }

    #[test]
    fn a_table_of_ours_is_known_by_its_exact_columns_alone() {
        assert_eq!(place(HEADER), Some(13));
        assert_eq!(place(&HEADER.replace("block,position", "execution")), Some(12));
        assert_eq!(place(HEADER.trim_end_matches(",attempt,attempt_of_plan")), Some(13));
        for other in [
            "subject,caveats".to_owned(),
            "block,position".to_owned(),
            HEADER.replace("caveats", "notes"),
            HEADER.replace("block,position", "position,block"),
            HEADER.replace("block,position", "block"),
            HEADER.replace("index,value", "value,index"),
            HEADER.replace(",attempt_of_plan", ""),
            format!("{HEADER},more"),
            format!("more,{HEADER}"),
        ] {
            assert_eq!(place(&other), None, "{other}");
        }
    }

    #[test]
    fn what_was_simulated_stays_simulated_and_names_its_subjects() {
        let both = import(&table(HEADER, ["NOISY SIMULATED", "SIMULATED"]));
        let told = ["values of these subjects, by the caveats in the file: a, b"];
        assert_eq!(details(&both, CaveatCode::Simulated), told);
        assert_eq!(emulated(&both), [""; 0]);
        let one = import(&table(HEADER, ["SIMULATED", "NOISY"]));
        let told = ["values of these subjects, by the caveats in the file: a"];
        assert_eq!(details(&one, CaveatCode::Simulated), told);
        // The column was read, and all others that nobody named were not.
        let notes = both.plan.notes.join("\n");
        assert!(notes.contains("detail") && !notes.contains("caveats"), "{notes}");
    }

    #[test]
    fn what_was_edited_or_is_bound_to_nothing_stays_so() {
        let told = ["values of these subjects, by the caveats in the file: a, b"];
        let codes = [CaveatCode::EvidenceChanged, CaveatCode::EvidenceUnbound];
        let text = table(HEADER, ["EVIDENCE_CHANGED EVIDENCE_UNBOUND NOISY"; 2]);
        let unblocked = imported(&CSV, &[("x", text.as_bytes())], &mapping(None)).unwrap();
        for code in codes {
            assert_eq!(details(&import(&text), code), told);
            assert_eq!(details(&unblocked, code), told);
        }
        let sound = import(&table(HEADER, ["NOISY", ""]));
        assert!(codes.into_iter().all(|code| details(&sound, code).is_empty()));
    }

    #[test]
    fn records_of_an_emulated_processor_say_so_with_and_without_blocks() {
        let text = table(HEADER, ["FRAGILE TCG", "NOISY"]);
        let blocked = import(&text);
        assert_eq!(emulated(&blocked), ["a"]);
        assert_eq!(details(&blocked, CaveatCode::Tcg), [""; 0]);
        let unblocked = imported(&CSV, &[("x", text.as_bytes())], &mapping(None)).unwrap();
        assert_eq!(emulated(&unblocked), ["a"]);
        let tabs = text.replace(',', "\t");
        let tabs = imported(&TSV, &[("x", tabs.as_bytes())], &mapping(Some("block"))).unwrap();
        assert_eq!(emulated(&tabs), ["a"]);
    }

    #[test]
    fn other_codes_other_tables_and_hostile_text_say_nothing_of_an_origin() {
        let hostile = "\u{1b}[31mSIMULATED <b>TCG</b> NO_SUCH_CODE";
        let foreign = HEADER.replace("detail,caveats", "caveats,detail");
        for text in [
            table(HEADER, ["NOISY FRAGILE", ""]),
            table(HEADER, [hostile, hostile]),
            table(&foreign, ["SIMULATED TCG", "SIMULATED TCG"]),
        ] {
            let found = import(&text);
            assert_eq!(details(&found, CaveatCode::Simulated), [""; 0], "{text}");
            assert_eq!(emulated(&found), [""; 0], "{text}");
            let told = format!("{:?} {:?}", found.plan.imported, found.plan.notes);
            assert!(!told.contains("NO_SUCH_CODE") && !told.contains("[31m"), "{told}");
        }
        let text = table(HEADER, ["NO_SUCH_CODE", ""]);
        let read = read(&CSV, &[("x", text.as_bytes())], &mapping(Some("block"))).unwrap();
        assert!(!picture(&read).contains("NO_SUCH_CODE"));
    }
}
