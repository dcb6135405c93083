//! `schedlab figures`: a campaign's figures as files.

use super::reports::{judged, refused, view};
use super::save::{real_directory, save};
use crate::cli::Common;
use crate::cli::figures::{Figures as Arguments, Picture, Theme as Themes};
use crate::environment::FONTS;
use crate::exit::ExitCode;
use crate::output::{is_read_by_a_person, print_bytes, print_data, tell};
use contract::{Error, ErrorKind, Result};
use figures::{Figure, Figures, Pictures, Theme};
use model::FIGURES;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use sys::{Files, HostFiles, sweep_drafts_of_files};

/// Pixels of a PNG for each of its figure's: screens and slides show as many.
const SCALE: f32 = 2.0;
/// Where they lie in a campaign.
const FOLDER: &str = "figures";

pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode> {
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    let report = view(&loaded, &loaded.directory, &findings, arguments.presentation);
    let data = report::page_json(&report)
        .map_err(|error| Error::environment("cannot draw the figures", error))?;
    let figures = Figures::of(&data).map_err(refused)?;
    let chosen = chosen(figures.described(), &arguments.figures)?;
    if arguments.list {
        let described = figures.described();
        print_data(&if arguments.json { json(described)? } else { listed(described) })?;
        return Ok(ExitCode::Done);
    }
    let mut drawing =
        Drawing { figures: &figures, arguments, pictures: None, undrawn: BTreeSet::new() };
    check_count(chosen.len() * drawing.themes().len())?;
    match (&arguments.output, chosen.as_slice()) {
        (Some(output), [one]) if output == Path::new("-") => drawing.send(*one)?,
        (Some(output), _) if output == Path::new("-") => {
            return Err(Error::usage(
                "cannot write several figures to standard output",
                "they are files of their own",
                "choose one: --figure ID; `--list` names them",
            ));
        }
        (Some(output), [one]) if !arguments.figures.is_empty() && !output.is_dir() => {
            drawing.write_one(*one, output)?;
        }
        (output, chosen) => {
            if output.is_none() && Path::new(&arguments.campaign.campaign).is_file() {
                return Err(Error::usage(
                    "cannot write figures into a bundle",
                    "it stays what was verified",
                    "say where: --output DIRECTORY",
                ));
            }
            let folder = match output {
                Some(output) => output.clone(),
                None => folder_in(&loaded.directory)?,
            };
            drawing.write_all(chosen, &folder)?;
        }
    }
    drawing.tell_undrawn();
    Ok(ExitCode::Done)
}

/// Refuses to draw more than anybody looks at, before the first is drawn.
fn check_count(count: usize) -> Result<()> {
    FIGURES
        .check(count as u64)
        .map_err(|over| Error::usage("cannot draw the figures", over, over.limit.remedy))
}

/// The folder of figures in a campaign. Another user's leads where that user wants it to.
fn folder_in(campaign: &Path) -> Result<PathBuf> {
    let folder = campaign.join(FOLDER);
    HostFiles.check_own_directory(&folder).map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            format!("cannot write into {}", folder.display()),
            error,
            "say where: --output DIRECTORY",
        )
    })?;
    Ok(folder)
}

/// The places of the figures that are wanted; all where none is named.
fn chosen(described: &[Figure], wanted: &[String]) -> Result<Vec<usize>> {
    if wanted.is_empty() {
        return Ok((0..described.len()).collect());
    }
    let place = |id: &String| {
        described.iter().position(|figure| figure.id == *id).ok_or_else(|| {
            let ids = described.iter().map(|figure| figure.id.as_str());
            let nearest = contract::nearest(id, ids);
            let meant =
                nearest.map_or(String::new(), |nearest| format!("did you mean `{nearest}`? "));
            Error::usage(
                format!("cannot draw the figure `{id}`"),
                "the campaign has no such figure",
                format!("{meant}`schedlab figures --list` names them"),
            )
        })
    };
    wanted.iter().map(place).collect()
}

/// Each figure with what it found, or where it answers no question, what it shows.
fn listed(described: &[Figure]) -> String {
    let line = |figure: &Figure| {
        let says = if figure.finding.is_empty() { &figure.title } else { &figure.finding };
        format!("{:<16} {says}\n", figure.id)
    };
    described.iter().map(line).collect()
}

/// The same for programs, with all that is known of each.
fn json(described: &[Figure]) -> Result<String> {
    serde_json::to_string_pretty(described)
        .map(|text| text + "\n")
        .map_err(|error| Error::environment("cannot list the figures", error))
}

struct Drawing<'a> {
    figures: &'a Figures,
    arguments: &'a Arguments,
    /// Made when the first PNG is wanted.
    pictures: Option<Pictures>,
    undrawn: BTreeSet<char>,
}

impl Drawing<'_> {
    fn send(&mut self, place: usize) -> Result<()> {
        if self.arguments.format == Picture::Png && is_read_by_a_person() {
            return Err(Error::usage(
                "cannot show a PNG",
                "it is binary, and standard output is a terminal",
                "write it to a file: --output FILE",
            ));
        }
        let [theme] = self.themes()[..] else {
            return Err(Error::usage(
                "cannot write both themes to standard output",
                "they are files of their own",
                "choose one: --theme light or --theme dark",
            ));
        };
        print_bytes(&self.drawn(place, theme)?)
    }

    fn write_one(&mut self, place: usize, output: &Path) -> Result<()> {
        for theme in self.themes() {
            let file = match (self.arguments.theme, theme) {
                (Themes::Both, Theme::Dark) => dark_beside(output),
                _ => output.to_owned(),
            };
            save(&file, &self.drawn(place, theme)?)?;
            tell(&format!("wrote {}", file.display()));
        }
        Ok(())
    }

    fn write_all(&mut self, places: &[usize], folder: &Path) -> Result<()> {
        let at = real_directory(folder)?;
        fs::create_dir_all(&at).map_err(|error| cannot_write(folder, error))?;
        let ending = match self.arguments.format {
            Picture::Svg => "svg",
            Picture::Png => "png",
        };
        let (figures, themes) = (self.figures, self.themes());
        let mut files = Vec::new();
        for place in places {
            let id = &figures.described()[*place].id;
            for theme in &themes {
                let name = PathBuf::from(format!("{id}.{ending}"));
                let name = if *theme == Theme::Dark { dark_beside(&name) } else { name };
                files.push((name.into_os_string(), *place, *theme));
            }
        }
        let names: BTreeSet<OsString> = files.iter().map(|(name, ..)| name.clone()).collect();
        sweep_drafts_of_files(&at, &names);
        for (name, place, theme) in &files {
            let bytes = self.drawn(*place, *theme)?;
            // A link of a name of ours is replaced and not followed.
            store::replace(&at, &name.to_string_lossy(), &bytes)?;
        }
        let figures = model::counted(files.len(), "figure");
        tell(&format!("wrote {figures} into {}", folder.display()));
        Ok(())
    }

    fn themes(&self) -> Vec<Theme> {
        match self.arguments.theme {
            Themes::Light => vec![Theme::Light],
            Themes::Dark => vec![Theme::Dark],
            Themes::Both => vec![Theme::Light, Theme::Dark],
        }
    }

    fn drawn(&mut self, place: usize, theme: Theme) -> Result<Vec<u8>> {
        let svg = self.figures.svg(place, theme, self.arguments.width).map_err(refused)?;
        if self.arguments.format == Picture::Svg {
            return Ok(svg.into_bytes());
        }
        let pictures = match self.pictures.take() {
            Some(pictures) => pictures,
            None => Pictures::new(FONTS.iter().map(PathBuf::from).collect()).map_err(refused)?,
        };
        let picture = self.pictures.insert(pictures).png(&svg, SCALE).map_err(refused)?;
        self.undrawn.extend(picture.undrawn);
        Ok(picture.png)
    }

    fn tell_undrawn(&self) {
        if !self.undrawn.is_empty() {
            let (letters, package) = figures::lacking(&self.undrawn);
            tell(&format!(
                "warning: no font here has {letters}: boxes stand in their place; install a font that \
                 has them (apt-get install {package}), or take SVG"
            ));
        }
    }
}

/// `effects.svg` in the other colours: `effects-dark.svg`.
fn dark_beside(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let ending =
        file.extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
    file.with_file_name(format!("{stem}-dark{ending}"))
}

fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    Error::environment(format!("cannot write {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_figures_than_anybody_looks_at_are_refused_by_the_name_of_the_limit() {
        check_count(20_000).unwrap();
        let error = check_count(20_001).unwrap_err();
        let told = "more than 20000 figures at once (limit FIGURES): 20001 were found";
        assert_eq!(error.cause, told);
        assert_eq!(error.kind, ErrorKind::Usage);
    }
}
