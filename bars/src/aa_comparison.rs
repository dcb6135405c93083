//! How often a thing compared with itself is judged better or worse, on this host.

use crate::Bar;
use crate::binary::Binary;

/// Two subjects that are the same, on two workloads.
const EXPERIMENT: &str = "title = \"The same twice\"\nvenue = \"host\"\nblocks = BLOCKS\ncontrol = false\nSETTLE\n\
    [subjects.a]\n[subjects.b]\nnice = \"0\"\n\
    [[workloads]]\nuse = \"messaging\"\nloops = LOOPS\ninvocations = 1\n\
    [[workloads]]\nuse = \"cyclic\"\nduration = \"LENGTH\"\ninvocations = 1\n";
const CAMPAIGNS: usize = 3;
const MOST_WRONG: usize = 1;

pub fn bar(binary: &Binary) -> Result<Bar, String> {
    let experiment = EXPERIMENT
        .replace("BLOCKS", binary.amount("6", "2"))
        .replace("SETTLE", binary.amount("", "settle = \"0s\""))
        .replace("LOOPS", binary.amount("300", "3"))
        .replace("LENGTH", binary.amount("1s", "500ms"));
    let file = binary.experiment("same", &experiment)?.display().to_string();
    let mut wrong = 0;
    for seed in 1..=binary.amount(CAMPAIGNS, 1) {
        binary.output(&["run", "--fresh", &file, "--set", &format!("seed={seed}")])?;
        let report = binary.json(&["show", "last", "--format", "json"])?;
        let findings =
            report["findings"]["findings"].as_array().ok_or("the report holds no findings")?;
        let differs = findings
            .iter()
            .any(|finding| matches!(finding["verdict"].as_str(), Some("better" | "worse")));
        wrong += usize::from(differs);
    }
    Ok(Bar {
        name: "A/A campaigns on this host with better or worse",
        measured: format!("{wrong} of {CAMPAIGNS}"),
        limit: format!("{MOST_WRONG} of {CAMPAIGNS}"),
        holds: wrong <= MOST_WRONG,
    })
}
