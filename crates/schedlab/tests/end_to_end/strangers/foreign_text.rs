//! Texts of others that are neither an import nor a campaign: experiments, mappings, pages of the
//! cache, what tools and programs print. A terminal obeys nothing of them, and yet they are shown.

use crate::bench::{Bench, KNOWN_EFFECT, assert_inert, errors};
use artefacts::digest;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{SystemTime, UNIX_EPOCH};
use tool_workloads::ProgramStub;

/// Turns letters round, opens an isolate, hides: no control, so that what is shown may hold it.
const TURNED: &str = "evil\u{202e}\u{2066}\u{200b}\u{e0041}";
/// Sets a clipboard, clears a screen, changes colours (C1), and deletes.
const HOSTILE: &str = "evil\u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{202e}";
/// What both begin with.
const WORD: &str = "evil";

/// A hostile text of which a line for a person shows a part.
fn endless() -> String {
    HOSTILE.to_owned() + &"x".repeat(model::LONGEST_LINE + 1000)
}

/// A hostile text of two lines, of which the second would pass for one of ours.
fn of_two_lines() -> String {
    format!("{HOSTILE}\nFORGED")
}

/// No line of what a command told is the second line of [`of_two_lines`].
#[track_caller]
fn has_no_forged_line(what: &str, told: &str) {
    let is_forged = |line: &str| line.trim_start().starts_with("FORGED");
    assert!(!told.lines().any(is_forged), "{what}: {told}");
}

/// A text as a string of TOML that has no control in it.
fn in_toml(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if model::is_obeyed(letter) => format!("\\U{:08x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", letters.collect::<String>())
}

/// What a command told, of which a terminal obeys nothing and no line is endless.
#[track_caller]
fn told(what: &str, output: &Output) -> String {
    assert_inert(what, output);
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(output);
    assert!(output.status.code().is_some_and(|code| code != 9), "{what}: {told}");
    // What is cut off is told, and signs are written out.
    let most = model::LONGEST_LINE + 500;
    assert!(told.lines().all(|line| line.chars().count() <= most), "{what} has an endless line");
    told
}

/// The same, and it shows the hostile text.
#[track_caller]
fn told_of_it(what: &str, output: &Output) -> String {
    let told = told(what, output);
    assert!(told.contains(WORD), "{what} does not say what it found: {told}");
    told
}

/// Parts of an experiment in whose place another text is refused, with what stands around the text.
const WRITTEN_OTHERWISE: [(&str, &str, &str); 8] = [
    ("\"A known effect\"", "", ""),
    ("title", "", " = 1\ntitle"),
    ("\"sim\"", "", ""),
    ("subjects.faster", "subjects.", ""),
    ("\"10%\"", "", ""),
    ("\"messaging\"", "", ""),
    ("\"makespan\"", "", ""),
    ("\"3%\"", "", ""),
];

#[test]
fn no_line_of_a_text_of_an_experiment_or_mapping_passes_for_one_of_ours() {
    let bench = Bench::new();
    let written = in_toml(&of_two_lines());
    for (known, prefix, suffix) in WRITTEN_OTHERWISE {
        let other = format!("{prefix}{written}{suffix}");
        let file = bench.experiment("forged", &KNOWN_EFFECT.replacen(known, &other, 1));
        for command in ["plan", "run"] {
            let what = format!("{command} with another {known}");
            let output = bench.run(&[command, &file]);
            let told = told_of_it(&what, &output);
            assert_eq!(output.status.code(), Some(2), "{what}: {told}");
            has_no_forged_line(&what, &told);
        }
    }
    let table = bench.path().join("table.csv");
    fs::write(&table, "who,ns\na,1.1\nb,1.2\nb,1.4\na,1.2\na,1.3\nb,1.5\n").unwrap();
    let file = bench.path().join("mapping.toml");
    fs::write(&file, format!("{written} = 1\nsubject = \"who\"\n")).unwrap();
    let [table, file] = [table, file].map(|path| path.display().to_string());
    let output = bench.run(&["import", "csv", &table, "--mapping", &file]);
    let told = told_of_it("import", &output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    has_no_forged_line("import", &told);
}

#[test]
fn a_terminal_obeys_nothing_of_an_experiment() {
    let bench = Bench::new();
    let titled = KNOWN_EFFECT.replace("A known effect", TURNED);
    let file = bench.experiment("titled", &titled);
    for arguments in [&["plan", &file][..], &["plan", "--json", &file], &["run", &file]] {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", errors(&output));
        assert_inert(&arguments.join(" "), &output);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
        assert!(shown.contains(WORD), "{arguments:?}: {shown}");
    }
    for text in [HOSTILE.to_owned(), endless()] {
        for (known, prefix, suffix) in WRITTEN_OTHERWISE {
            // With its controls written out it is read; raw ones are no TOML.
            for (command, written) in [("run", in_toml(&text)), ("plan", format!("\"{text}\""))] {
                let other = format!("{prefix}{written}{suffix}");
                let file = bench.experiment("refused", &KNOWN_EFFECT.replacen(known, &other, 1));
                let what = format!("{command} with another {known}");
                let output = bench.run(&[command, &file]);
                let told = told_of_it(&what, &output);
                assert_eq!(output.status.code(), Some(2), "{what}: {told}");
            }
        }
    }
    assert_eq!(fs::read_dir(bench.results()).unwrap().count(), 1, "what is refused does not run");
}

#[test]
fn a_terminal_obeys_nothing_of_a_mapping() {
    const MAPPING: &str = "subject = \"who\"\nprimary = [\"ns\"]\n\
        [[values]]\ncolumn = \"ns\"\ndirection = \"lower\"\nunit = \"ns\"\n";
    let bench = Bench::new();
    let write = |name: &str, text: &str| {
        let path = bench.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let table = write("table.csv", "who,ns\na,1.1\nb,1.2\nb,1.4\na,1.2\na,1.3\nb,1.5\n");
    let import = |mapping: &str| {
        let mapping = write("mapping.toml", mapping);
        bench.run(&["import", "csv", &table, "--mapping", &mapping])
    };
    for text in [HOSTILE.to_owned(), endless()] {
        let written = in_toml(&text);
        let of = |known: &str, other: &str| MAPPING.replacen(known, other, 1);
        for (what, mapping) in [
            ("an unknown key", format!("{written} = 1\n{MAPPING}")),
            ("an unknown direction", of("\"lower\"", &written)),
            ("an unknown metric", of("[\"ns\"]", &format!("[{written}]"))),
        ] {
            let output = import(&mapping);
            let told = told_of_it(what, &output);
            assert_eq!(output.status.code(), Some(2), "{what}: {told}");
        }
        for (what, mapping) in [
            ("another column of subjects", of("\"who\"", &written)),
            ("another column of values", of("column = \"ns\"", &format!("column = {written}"))),
            ("what is no TOML", format!("{text}\n{MAPPING}")),
        ] {
            let output = import(&mapping);
            let told = told(what, &output);
            assert_eq!(output.status.code(), Some(2), "{what}: {told}");
        }
        // Whether it is taken for a unit or not.
        let unit = import(&of("unit = \"ns\"", &format!("unit = {written}")));
        assert_inert("another unit", &unit);
    }
}

/// A kernel and a scheduler whose pages, and an index of the archive that, say this.
fn hostile_cache(cache: &Path, text: &str) {
    let kernel = cache.join("kernels/debian-6.1.1-1");
    fs::create_dir_all(&kernel).unwrap();
    fs::write(kernel.join("vmlinuz"), "image").unwrap();
    let package = |name: &str| {
        serde_json::json!({
            "name": name,
            "version": format!("6.1.1-1{text}"),
            "sha256": text,
            "size": 1 << 20,
            "suite": text,
        })
    };
    let page = serde_json::json!({
        "format": "schedlab.kernel/1",
        "name": format!("debian:6.1.1-1{text}"),
        "release": format!("6.1.1-{text}"),
        "version": { "major": 6, "minor": 1, "patch": 1 },
        "digest": digest::of_bytes(b"image"),
        "packages": [package(text)],
        "origin": text,
    });
    fs::write(kernel.join("kernel.json"), page.to_string()).unwrap();
    // The name of a file is no longer than 255 bytes.
    let name: String = format!("scx_{text}").chars().take(60).collect();
    let schedulers = cache.join("schedulers");
    let id = format!("{name}@1.1.4");
    for directory in ["bin", &id] {
        fs::create_dir_all(schedulers.join(directory)).unwrap();
    }
    fs::write(schedulers.join("bin").join(&id), "#!/bin/sh\n").unwrap();
    let page = serde_json::json!({
        "format": "schedlab.scheduler/1",
        "name": name,
        "version": "1.1.4",
        "digest": text,
        "license": text,
        "is_static": true,
        "built_with": [text],
        "build_seconds": 1,
    });
    fs::write(schedulers.join(&id).join("scheduler.json"), page.to_string()).unwrap();
    let formed_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let image = format!("linux-image-6.1.1-{text}-cloud-amd64");
    let index = serde_json::json!({
        "format": "schedlab.kernel-index/1",
        "formed_s": formed_s,
        "notes": [text],
        "packages": [{ "package": package(&image), "depends": [] }],
    });
    fs::create_dir_all(cache.join("archive")).unwrap();
    fs::write(cache.join("archive/kernels.json"), index.to_string()).unwrap();
}

#[test]
fn a_terminal_obeys_nothing_of_a_page_of_the_cache() {
    let bench = Bench::new();
    for (number, text) in [of_two_lines(), endless()].into_iter().enumerate() {
        let cache = bench.path().join(format!("cache-{number}"));
        hostile_cache(&cache, &text);
        let cache = cache.display().to_string();
        let run = |words: &[&str]| bench.run(&[&["--cache", &cache][..], words].concat());
        for words in [
            &["kernels", "list"][..],
            &["kernels", "list", "--offered"],
            &["kernels", "fetch", "--dry-run", "debian:6.1"],
            &["schedulers", "list"],
            &["list"],
        ] {
            let what = words.join(" ");
            let output = run(words);
            let shown = told_of_it(&what, &output);
            assert_eq!(output.status.code(), Some(0), "{what}: {shown}");
            // It would pass for a kernel or a scheduler.
            has_no_forged_line(&what, &shown);
        }
        let what = "kernels show of another";
        has_no_forged_line(what, &told_of_it(what, &run(&["kernels", "show", "debian:6.2"])));
        told("schedulers show", &run(&["schedulers", "show", "scx_rusty@1.1.4"]));
        // A value for a program may be as long as it is.
        for words in [
            &["kernels", "show", "debian:6.1"][..],
            &["kernels", "list", "--json"],
            &["kernels", "list", "--offered", "--json"],
            &["schedulers", "list", "--json"],
        ] {
            let (what, output) = (words.join(" "), run(words));
            assert_inert(&what, &output);
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(shown.contains(WORD), "{what}: {shown}");
        }
        // It only counts them.
        told("doctor", &run(&["doctor"]));
    }
}

/// A workload that runs a tool, and a hostile stub in the tool's place.
struct HostileTool {
    workload: &'static str,
    stub: &'static ProgramStub,
}

impl HostileTool {
    /// That of each workload of the catalogue that runs a tool.
    fn all() -> Vec<Self> {
        let entries = tool_workloads::ENTRIES.iter().zip(tool_workloads::STUBS);
        entries.map(|(entry, stub)| Self { workload: entry.describe().id, stub }).collect()
    }

    /// Writes a program that says its version and fails with hostile words on both streams.
    fn write(&self, bench: &Bench) {
        let endless = endless();
        let answer = |(asked, version): (&str, &str)| {
            format!("case \"$1\" in {asked}) echo '{version}'; exit 0;; esac\n")
        };
        let answer = self.stub.version.map(answer).unwrap_or_default();
        bench.program(
            self.stub.program,
            &format!("#!/bin/sh\n{answer}echo '{endless}'; echo '{endless}' >&2\nexit 3\n"),
        );
    }

    /// The workload as an experiment declares it.
    fn declared(&self) -> String {
        let written = |(name, value): &(&str, &str)| match *value {
            "true" | "false" => format!("{name} = {value}\n"),
            text => format!("{name} = \"{text}\"\n"),
        };
        let parameters: String = self.stub.parameters.iter().map(written).collect();
        let workload = self.workload;
        format!("[[workloads]]\nuse = \"{workload}\"\n{parameters}invocations = 1\n")
    }
}

#[test]
fn a_terminal_obeys_nothing_of_what_tools_and_programs_print() {
    const HEAD: &str = "title = \"tools\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\n\
        settle = \"0s\"\nprobes = []\n[subjects.a]\n[subjects.b]\nnice = \"1\"\n";
    let bench = Bench::new();
    let tools = HostileTool::all();
    tools.iter().for_each(|tool| tool.write(&bench));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", bench.path().display());
    let workloads: String = tools.iter().map(HostileTool::declared).collect();
    let file = bench.experiment("tools", &format!("{HEAD}{workloads}"));
    let run = |arguments: &[&str]| bench.command(arguments).env("PATH", &path).output().unwrap();
    told_of_it("run", &run(&["run", &file]));
    let records = bench.record_lines();
    for tool in tools {
        let workload = format!("\"workload\":\"{}\"", tool.workload);
        let has_said = |line: &String| line.contains(&workload) && line.contains(WORD);
        assert!(records.iter().any(has_said), "{workload}: {records:?}");
    }
    for arguments in [
        &["show", "last", "-v"][..],
        &["explain"],
        &["report", "last", "--format", "markdown", "--output", "-"],
        &["report", "last", "--format", "json", "--output", "-"],
        &["history"],
        &["top", "--once"],
        &["judge", "last"],
    ] {
        assert_inert(&arguments.join(" "), &run(arguments));
    }
}
