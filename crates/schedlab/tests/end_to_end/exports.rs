//! Figures, slides and pages on paper, and whether the programs of others open them.

use crate::bench::{Bench, errors};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const EXPERIMENT: &str = r#"
title  = "=cmd|' /C calc'!A0 <script>alert(1)</script> & which is best?"
venue  = "sim"
blocks = 8
seed   = 7
margin = "3%"

[subjects.baseline]
[subjects.faster]
sim_effect = "10%"
[subjects.slower]
sim_effect = "-8%"

[[workloads]]
use = "messaging"
primary = ["makespan"]

[[workloads]]
use = "wakeup"
primary = ["request_latency_p99"]
"#;

/// A finished campaign; none where this build has no figures.
fn campaign() -> Option<Bench> {
    if !report::HAS_PAGE {
        testing::skip("the figures are not built: cargo xtask ui");
        return None;
    }
    let bench = Bench::new();
    let file = bench.experiment("exports", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    Some(bench)
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').map(|folder| Path::new(folder).join(name)).find(|file| file.is_file())
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_figure_is_a_file_and_the_same_bytes_every_time() {
    let Some(bench) = campaign() else { return };
    let listed = bench.expect(0, &["figures", "last", "--list"]);
    let json = bench.expect(0, &["figures", "last", "--list", "--json"]);
    let json: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(json.len(), listed.lines().count());
    assert!(json.iter().all(|figure| listed.contains(figure["id"].as_str().unwrap())));
    bench.expect(2, &["figures", "last", "--json"]);
    assert!(listed.contains("Better in 2 of 4"), "{listed}");
    bench.expect(0, &["figures", "last"]);
    let written = files(&bench.campaign().join("figures"));
    assert_eq!(written.len(), listed.lines().count());
    for (name, bytes) in &written {
        let text = String::from_utf8_lossy(bytes);
        assert!(name.ends_with(".svg") && text.starts_with("<svg ") && text.ends_with("</svg>"));
        assert!(!text.contains("<script"), "{name}");
    }
    let again = bench.path().join("again");
    bench.expect(0, &["figures", "last", "--output", again.to_str().unwrap()]);
    assert!(files(&again) == written, "two runs drew differently");
    let one = bench.expect(0, &["figures", "last", "--figure", "forest", "--output", "-"]);
    assert_eq!(one.as_bytes(), written.iter().find(|(name, _)| name == "forest.svg").unwrap().1);
    let picture = bench.path().join("effects.png");
    let words = ["figures", "last", "--figure", "forest", "--format", "png", "--theme", "both"];
    bench.expect(0, &[&words[..], &["--output", picture.to_str().unwrap()]].concat());
    let pair = [picture.clone(), bench.path().join("effects-dark.png")]
        .map(|file| fs::read(file).unwrap());
    assert!(pair.iter().all(|png| png.starts_with(b"\x89PNG")) && pair[0] != pair[1]);
}

#[test]
fn a_figure_that_is_not_there_is_named_with_the_nearest_one() {
    let Some(bench) = campaign() else { return };
    let output = bench.run(&["figures", "last", "--figure", "forst"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("did you mean `forest`?"), "{}", errors(&output));
    let output = bench.run(&["figures", "last", "--output", "-"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(!bench.campaign().join("figures").exists());
}

#[test]
fn what_a_killed_process_left_of_a_figure_goes_when_figures_are_written_again() {
    let Some(bench) = campaign() else { return };
    bench.expect(0, &["figures", "last"]);
    let folder = bench.campaign().join("figures");
    let left = ["forest.svg", "forest-dark.svg", "notes.svg"].map(|name| {
        let path = folder.join(sys::draft_name(name.as_ref(), 7));
        let long_ago = SystemTime::now() - 2 * sys::GRACE_PERIOD;
        fs::File::create(&path).unwrap().set_modified(long_ago).unwrap();
        path
    });
    bench.expect(0, &["figures", "last"]);
    assert_eq!(left.each_ref().map(|path| path.exists()), [false, true, true], "what is written");
    bench.expect(0, &["figures", "last", "--theme", "both"]);
    assert_eq!(left.each_ref().map(|path| path.exists()), [false, false, true], "it is no figure");
}

/// The pages that an office program makes of a file.
fn opened(office: &Path, file: &Path, folder: &Path) -> usize {
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.display());
    let status = Command::new(office)
        .args([&profile, "--headless", "--norestore", "--convert-to", "pdf", "--outdir"])
        .arg(folder)
        .arg(file)
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    let pdf = fs::read(folder.join(file.with_extension("pdf").file_name().unwrap())).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    text.matches("/Type/Page/").count()
}

#[test]
fn slides_and_workbook_open_in_another_office_program_with_all_their_pages() {
    let Some(bench) = campaign() else { return };
    let Some(office) = program("soffice") else {
        testing::skip(
            "LibreOffice is not installed: apt-get install libreoffice-impress libreoffice-calc",
        );
        return;
    };
    let write = |format: &str, name: &str| {
        let file = bench.path().join(name);
        bench
            .expect(0, &["report", "last", "--format", format, "--output", file.to_str().unwrap()]);
        file
    };
    let slides = write("pptx", "slides.pptx");
    assert_eq!(fs::read(&slides).unwrap(), fs::read(write("pptx", "again.pptx")).unwrap());
    let bytes = fs::read(&slides).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    // Each part is named in its own header and in the directory at the end.
    let count = text.matches("ppt/slides/slide").count() / 2;
    assert!(count > 12, "{count} slides");
    assert_eq!(opened(&office, &slides, bench.path()), count);
    assert!(opened(&office, &write("xlsx", "book.xlsx"), bench.path()) > 0);
}

#[test]
fn the_machine_is_on_a_slide_under_the_names_that_were_recorded() {
    if !report::HAS_PAGE {
        return testing::skip("the figures are not built: cargo xtask ui");
    }
    let bench = Bench::new();
    let file = bench.experiment(
        "machine",
        "title = \"?\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\n\
         [subjects.baseline]\n[subjects.nice]\nnice = 5\n\
         [[workloads]]\nuse = \"command\"\nrun = \"true\"\n",
    );
    bench.expect(0, &["run", &file]);
    let deck = bench.path().join("deck.pptx");
    bench.expect(0, &["report", "last", "--format", "pptx", "--output", deck.to_str().unwrap()]);
    let mut archive = zip::ZipArchive::new(fs::File::open(deck).unwrap()).unwrap();
    let mut words = String::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        if part.name().starts_with("ppt/slides/slide") {
            part.read_to_string(&mut words).unwrap();
        }
    }
    for fact in ["kernel.release", "kernel.build", "kernel.command_line", "memory.total"] {
        assert!(words.contains(&format!(">{fact}<")), "{fact}");
    }
}

#[test]
fn a_page_is_printed_where_a_browser_is_installed() {
    let Some(bench) = campaign() else { return };
    if !["chromium", "chromium-browser", "google-chrome"].iter().any(|name| program(name).is_some())
    {
        testing::skip("no Chromium is installed");
        return;
    }
    bench.expect(0, &["report", "last", "--format", "pdf"]);
    let pdf = fs::read(bench.campaign().join("report.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.contains("/StructTreeRoot"), "it is tagged for those who listen");
    // Without its figures it has half of that.
    assert!(pdf.len() > 150_000, "{} bytes", pdf.len());
}

#[test]
fn without_a_browser_nothing_is_printed_and_the_remedy_is_named() {
    let Some(bench) = campaign() else { return };
    let output = bench
        .command(&["report", "last", "--format", "pdf"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(errors(&output).contains("apt-get install"), "{}", errors(&output));
    assert!(!bench.campaign().join("report.pdf").exists());
}
