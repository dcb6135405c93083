//! Edges between our crates, as cargo sees them and as ARCHITECTURE.md lists them.

use super::house::{HOUSE, Room, refusal, room};
use super::page::{ARCHITECTURE, architecture, section};
use super::tree::SourceFile;
use cargo_metadata::{DependencyKind, Metadata, Package};

/// Where ARCHITECTURE.md has the table in words.
const HEADING: &str = "## Layers";

/// Compares every crate of the workspace with the table.
pub fn check(metadata: &Metadata) -> Vec<String> {
    let ours = metadata.workspace_packages();
    let mut found = Vec::new();
    for package in &ours {
        match room(&package.name) {
            Some(place) => found.extend(check_package(package, place)),
            None => found.push(format!(
                "{}: has no place in the house; decide on one in xtask/src/tidy/house.rs",
                package.name
            )),
        }
    }
    found
}

fn check_package(package: &Package, place: &Room) -> Vec<String> {
    let mut found = Vec::new();
    let declared = package.metadata["schedlab"]["layer"].as_u64();
    if declared != Some(place.layer) {
        found.push(format!(
            "{}: package.metadata.schedlab.layer is {}, the house says {}",
            package.name,
            declared.map_or("missing".to_owned(), |layer| layer.to_string()),
            place.layer
        ));
    }
    // Only our own crates are path dependencies.
    for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
        let is_for_tests = dependency.kind == DependencyKind::Development;
        if let Some(target) = room(&dependency.name) {
            found.extend(refusal(place, target, is_for_tests));
        }
    }
    found
}

/// Compares the rows of ARCHITECTURE.md with the table.
pub fn check_page(files: &[SourceFile]) -> Vec<String> {
    let page = match architecture(files) {
        Ok(page) => page,
        Err(problem) => return vec![problem],
    };
    let lines = section(page, HEADING);
    let rows: Vec<(usize, Row<'_>)> =
        lines.iter().filter_map(|&(number, line)| Some((number, Row::read(line)?))).collect();
    let mut found = Vec::new();
    for (number, row) in &rows {
        found.extend(row.problem().map(|problem| format!("{}: {problem}", page.at(*number))));
    }
    for place in HOUSE {
        if !rows.iter().any(|(_, row)| row.name == place.name) {
            found.push(format!("{ARCHITECTURE}: has no row of {} below `{HEADING}`", place.name));
        }
    }
    found
}

/// A row of the page.
struct Row<'p> {
    layer: &'p str,
    name: &'p str,
    uses: &'p str,
}

impl<'p> Row<'p> {
    /// The row of a line; none where it has no crate.
    fn read(line: &'p str) -> Option<Self> {
        let cells: Vec<&'p str> = line.split('|').map(str::trim).collect();
        let &[_, layer, name, _, uses, _] = cells.as_slice() else { return None };
        let name = name.strip_prefix('`')?.strip_suffix('`')?;
        Some(Self { layer, name, uses })
    }

    fn problem(&self) -> Option<String> {
        let name = self.name;
        let Some(place) = room(name) else {
            return Some(format!("{name} has no place in xtask/src/tidy/house.rs"));
        };
        let (layer, uses) = (place.layer.to_string(), place.uses.in_words());
        (self.layer != layer || self.uses != uses).then(|| {
            format!("xtask/src/tidy/house.rs has {name} in layer {layer}, and it may use: {uses}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a page that has the whole table, of which one text is replaced.
    fn found(old: &str, new: &str) -> Vec<String> {
        let mut page = format!("{HEADING}\n\n| layer | crate | holds | may use |\n");
        page.push_str("|---|---|---|---|\n");
        for place in HOUSE {
            let (layer, name, uses) = (place.layer, place.name, place.uses.in_words());
            page.push_str(&format!("| {layer} | `{name}` | parts | {uses} |\n"));
        }
        assert!(page.contains(old), "{page}");
        check_page(&[SourceFile::new(ARCHITECTURE, page.replacen(old, new, 1))])
    }

    #[test]
    fn rows_that_are_as_the_table_are_told_nothing_of() {
        assert_eq!(found("parts", "parts"), [""; 0]);
    }

    #[test]
    fn a_row_that_differs_from_the_table_is_told_with_its_line() {
        let model = "| 0 | `model` | parts | nothing of ours |";
        let problem = "ARCHITECTURE.md:5: xtask/src/tidy/house.rs has model in layer 0, and it \
            may use: nothing of ours";
        assert_eq!(found(model, "| 0 | `model` | parts | stats |"), [problem]);
        assert_eq!(found(model, "| 1 | `model` | parts | nothing of ours |"), [problem]);
        let added = format!("| 0 | `cellar` | parts | model |\n{model}");
        let problem = "ARCHITECTURE.md:5: cellar has no place in xtask/src/tidy/house.rs";
        assert_eq!(found(model, &added), [problem]);
    }

    #[test]
    fn a_crate_without_a_row_is_told() {
        let problem = "ARCHITECTURE.md: has no row of model below `## Layers`";
        assert_eq!(found("| 0 | `model` | parts | nothing of ours |\n", ""), [problem]);
        assert_eq!(check_page(&[]), ["ARCHITECTURE.md: is not there"]);
    }
}
