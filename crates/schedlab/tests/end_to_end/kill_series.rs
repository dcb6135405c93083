//! Series of kills: instants drawn from a seed, records that no kill may lose, and the row that a
//! soak prints of each series.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The instants that are drawn. The same seed draws the same ones; what they fall into also depends
/// on how busy the machine is.
const SEED: &str = "SCHEDLAB_SOAK_SEED";
/// The file from which a soak reads what became of each series.
const ROWS: &str = "SCHEDLAB_SOAK_ROWS";
/// Progress is told this often.
const PERIOD: Duration = Duration::from_secs(30);
/// Tries for each kill that counts. A try does not count whose process had ended before its kill.
const MOST_TRIES: u64 = 20;
/// How the log of a campaign tells that the record of a trial is on disk.
const STORED: &str = r#""event":"trial_finished""#;

/// Kills of one sort, as many as were asked for. It ends at the first that leaves or loses anything.
pub struct KillSeries {
    kind: &'static str,
    seed: u64,
    random: SplitMix,
    start: Instant,
    told: Instant,
    wanted: u64,
    tries: u64,
    count: u64,
    left: u64,
    lost: u64,
    absent: Vec<String>,
}

impl KillSeries {
    /// A series; `amount` is the variable that says how many, and how many otherwise.
    pub fn new(kind: &'static str, amount: (&str, u64)) -> Self {
        let seed = testing::number(SEED).unwrap_or(1);
        let wanted = testing::number(amount.0).unwrap_or(amount.1);
        eprintln!("soak: {kind}: {wanted} are due, seed {seed}");
        // The instants of a kind do not depend on which kinds were run before it.
        let mix = |mixed: u64, byte: u8| mixed.wrapping_mul(31).wrapping_add(u64::from(byte));
        let random = SplitMix(kind.bytes().fold(seed, mix));
        let start = Instant::now();
        Self {
            kind,
            seed,
            random,
            start,
            told: start,
            wanted,
            tries: 0,
            count: 0,
            left: 0,
            lost: 0,
            absent: Vec::new(),
        }
    }

    /// Tells what this machine does not have.
    pub fn note_absent(&mut self, what: String) {
        testing::unsupported(&format!("{}: {what}", self.kind));
        self.absent.push(what);
    }

    /// Whether another kill is due.
    pub fn wants_more(&mut self) -> bool {
        self.tries += 1;
        let most = MOST_TRIES * (self.wanted + 1);
        assert!(self.tries <= most, "{}: {} in {most} tries", self.kind, self.count);
        self.count < self.wanted
    }

    /// How many kills hit what they were meant for.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Counts one that did.
    pub fn note_kill(&mut self) {
        self.count += 1;
        if self.told.elapsed() >= PERIOD || self.count == self.wanted {
            self.told = Instant::now();
            eprintln!(
                "soak: {}: {} of {}, {} left over, {} records lost, {:.0} s",
                self.kind,
                self.count,
                self.wanted,
                self.left,
                self.lost,
                self.start.elapsed().as_secs_f64()
            );
        }
    }

    /// The next instant of the seed, below `longest`.
    pub fn instant(&mut self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_micros()).unwrap().max(1);
        Duration::from_micros(self.random.draw() % longest)
    }

    /// Counts what was left and what was lost, and ends the series where anything was.
    pub fn check(&mut self, when: &str, left: &[String], lost: &[String]) {
        self.left += left.len() as u64;
        self.lost += lost.len() as u64;
        assert!(
            left.is_empty() && lost.is_empty(),
            "{} with seed {}, {when}, kill {}: left over: {left:#?}; records lost: {lost:#?}",
            self.kind,
            self.seed,
            self.count
        );
    }
}

impl Drop for KillSeries {
    /// Hands the row over, also that of a series which failed.
    fn drop(&mut self) {
        let Some(path) = std::env::var_os(ROWS) else { return };
        let row = serde_json::json!({
            "kind": self.kind,
            "wanted": self.wanted,
            "count": self.count,
            "left": self.left,
            "lost": self.lost,
            "seconds": self.start.elapsed().as_secs_f64(),
            "absent": self.absent,
        });
        // A soak misses a row that could not be written, and fails.
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
            let _ = writeln!(file, "{row}");
        }
    }
}

/// `SplitMix64` (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
struct SplitMix(u64);

impl SplitMix {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The complete records of each campaign below a directory, as they were last seen.
#[derive(Default)]
pub struct KeptRecords(BTreeMap<PathBuf, Vec<String>>);

impl KeptRecords {
    /// Every record that was there and is not, or was told to be on disk and is not, whatever breaks
    /// the chain of those that are there, and campaigns that no run went on with.
    pub fn lost(&mut self, results: &Path) -> Vec<String> {
        let now: BTreeMap<PathBuf, Vec<String>> = campaigns(results)
            .map(|campaign| {
                let lines = complete_lines(&campaign);
                (campaign, lines)
            })
            .collect();
        let mut lost = Vec::new();
        for (campaign, before) in &self.0 {
            let after = now.get(campaign).map_or(&[][..], Vec::as_slice);
            lost.extend(gone(campaign, before, after));
        }
        for (campaign, lines) in &now {
            lost.extend(unstored(campaign, lines.len()));
            lost.extend(flaws(campaign, lines.len()));
        }
        lost.extend(abandoned(&now));
        self.0 = now;
        lost
    }

    /// Removes all campaigns, so that the next run begins one.
    pub fn forget(&mut self, results: &Path) {
        campaigns(results).for_each(|campaign| fs::remove_dir_all(campaign).unwrap());
        self.0.clear();
    }
}

/// How many complete records all campaigns below a directory have.
pub fn record_count(results: &Path) -> usize {
    campaigns(results).map(|campaign| complete_lines(&campaign).len()).sum()
}

fn campaigns(results: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(results).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}

/// A record is complete when its line feed is there.
fn complete_lines(campaign: &Path) -> Vec<String> {
    let bytes = fs::read(campaign.join("records.jsonl")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(str::to_owned).collect()
}

fn gone(campaign: &Path, before: &[String], after: &[String]) -> Vec<String> {
    let numbered = before.iter().enumerate();
    let is_gone = |(number, line): &(usize, &String)| after.get(*number) != Some(*line);
    let told =
        |(number, _): (usize, &String)| format!("record {} of {}", number + 1, campaign.display());
    numbered.filter(is_gone).map(told).collect()
}

/// Records that the campaign told to be on disk beyond those that are there.
fn unstored(campaign: &Path, stored: usize) -> Vec<String> {
    let log = fs::read_to_string(campaign.join("logs/events.jsonl")).unwrap_or_default();
    let told = |number: usize| format!("record {number} of {}, told as stored", campaign.display());
    (stored + 1..=log.matches(STORED).count()).map(told).collect()
}

/// What of a campaign's evidence is not as it was written. A kill may leave a directory without
/// records in which not even the plan is complete.
fn flaws(campaign: &Path, stored: usize) -> Vec<String> {
    if stored == 0 {
        return Vec::new();
    }
    match store::load(campaign) {
        Ok(loaded) if loaded.records.len() == stored => {
            loaded.flaws.iter().map(|flaw| flaw.detail.clone()).collect()
        }
        Ok(loaded) => vec![format!("{} of {stored} records are read", loaded.records.len())],
        Err(error) => vec![format!("{}: {error:?}", campaign.display())],
    }
}

/// Campaigns with records that are not finished, where there are several: a run began anew beside one
/// that it had to go on with.
fn abandoned(campaigns: &BTreeMap<PathBuf, Vec<String>>) -> Vec<String> {
    let with_records = campaigns.iter().filter(|(_, lines)| !lines.is_empty());
    let mut paths: Vec<&Path> = with_records.map(|(campaign, _)| campaign.as_path()).collect();
    // What of a single one is to be told, its flaws tell.
    if paths.len() > 1 {
        paths.retain(|path| store::load(path).is_ok_and(|loaded| !loaded.is_finished));
    }
    let told = |path: &Path| format!("a run began anew beside {}", path.display());
    paths.into_iter().skip(1).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::{KeptRecords, SplitMix, gone, record_count};
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_record_that_is_gone_changed_or_in_another_place_is_lost() {
        let lines = |text: &str| -> Vec<String> { text.chars().map(String::from).collect() };
        let lost = |after: &str| gone(Path::new("c"), &lines("abc"), &lines(after));
        assert_eq!(lost("abcd"), Vec::<String>::new());
        assert_eq!(lost("ab"), ["record 3 of c"]);
        assert_eq!(lost("axc"), ["record 2 of c"]);
        assert_eq!(lost("bc"), ["record 1 of c", "record 2 of c", "record 3 of c"]);
    }

    #[test]
    fn a_record_that_was_told_as_stored_and_is_torn_is_lost() {
        let results = tempfile::tempdir().unwrap();
        let campaign = results.path().join("campaign");
        fs::create_dir_all(campaign.join("logs")).unwrap();
        fs::write(campaign.join("records.jsonl"), "{\"torn").unwrap();
        let mut kept = KeptRecords::default();
        assert_eq!(record_count(results.path()), 0);
        assert_eq!(kept.lost(results.path()), Vec::<String>::new());
        fs::write(campaign.join("logs/events.jsonl"), super::STORED).unwrap();
        assert_eq!(kept.lost(results.path()).len(), 1);
    }

    #[test]
    fn a_seed_draws_the_same_instants_again() {
        // The first two numbers of seed 0, as the reference implementation has them.
        let mut random = SplitMix(0);
        assert_eq!(random.draw(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.draw(), 0x6e78_9e6a_a1b9_65f4);
    }
}
