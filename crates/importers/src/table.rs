//! What every format is read into: rows of samples with their places.

use crate::metrics::metric_id;
use crate::trouble::Trouble;
use model::{Caveat, Direction, Metric, Reduction, Sample, Unit};

/// More rows than this would be a plan nobody reads and a file nobody opens.
const MOST_ROWS: usize = 1_000_000;
/// Longest name of a subject or level.
const LONGEST_NAME: usize = 200;

/// Everything the files hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Names of the parameters that tell workloads apart, in order.
    pub dimensions: Vec<String>,
    /// Those of them that one execution fixes; the others it covers.
    pub fixed: Vec<String>,
    /// Metrics in order of appearance.
    pub metrics: Vec<Metric>,
    /// Ids of the metrics that are judged; all of them where empty.
    pub primary: Vec<String>,
    /// Rows in the order they were measured, as far as the file tells.
    pub rows: Vec<Row>,
    /// What the importer noticed.
    pub caveats: Vec<Caveat>,
    /// Whether the load waited for each answer.
    pub is_closed_loop: bool,
}

/// What was measured at one place of one execution.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The subject.
    pub subject: String,
    /// A level of each dimension.
    pub levels: Vec<String>,
    /// The execution it belongs to; each row is its own where nobody knows.
    pub execution: Option<String>,
    /// The block, where there are blocks.
    pub block: Option<String>,
    /// What was measured; empty where it failed.
    pub samples: Vec<Sample>,
    /// Why it failed, where it did.
    pub failure: Option<String>,
}

impl Table {
    /// Sets the dimensions, which every file of an import must share.
    ///
    /// # Errors
    /// When an earlier file has others.
    pub fn declare(&mut self, dimensions: &[&str], fixed: &[&str]) -> Result<(), Trouble> {
        let owned =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        if self.rows.is_empty() {
            self.dimensions = owned(dimensions);
            self.fixed = owned(fixed);
        } else if self.dimensions != dimensions {
            let cause = format!(
                "its parameters are {}, and those of the files before it {}",
                dimensions.join(", "),
                self.dimensions.join(", ")
            );
            return Err(Trouble::new(cause, "import files of one shape together"));
        }
        Ok(())
    }

    /// Makes a metric known and returns its id. The name is turned into one.
    ///
    /// # Errors
    /// When it is known with another direction or unit.
    pub fn metric(
        &mut self,
        name: &str,
        unit: Unit,
        direction: Direction,
        reduction: Reduction,
    ) -> Result<String, Trouble> {
        let id = metric_id(name);
        if let Some(known) = self.metrics.iter().find(|metric| metric.id == id) {
            if (known.unit, known.direction) != (unit, direction) {
                let cause = format!("`{name}` has another unit or direction than before");
                return Err(Trouble::new(cause, "give it one unit and one direction"));
            }
            return Ok(id);
        }
        self.metrics.push(Metric::new(id.clone(), unit, direction, reduction, name));
        Ok(id)
    }

    /// Appends a row.
    ///
    /// # Errors
    /// When there are too many, or a name is empty, too long or no text.
    pub fn push(&mut self, line: Option<u64>, row: Row) -> Result<(), Trouble> {
        let trouble =
            |cause: String, remedy: &str| Trouble { line, cause, remedy: remedy.to_owned() };
        if self.rows.len() >= MOST_ROWS {
            let cause = format!("more than {MOST_ROWS} rows");
            return Err(trouble(cause, "import a part of it, or reduce repetitions first"));
        }
        let names = [&row.subject].into_iter().chain(&row.levels);
        for name in names.chain(&row.execution).chain(&row.block) {
            let is_name = !name.is_empty()
                && name.chars().count() <= LONGEST_NAME
                && !name.chars().any(char::is_control);
            if !is_name {
                let shown: String = name.chars().take(40).collect();
                let cause = format!("{shown:?} is no name of a subject, level or execution");
                return Err(trouble(cause, "names are one line of 1 to 200 characters"));
            }
        }
        self.rows.push(row);
        Ok(())
    }
}
