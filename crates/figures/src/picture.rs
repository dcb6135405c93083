//! A figure as a picture. Text needs a font: ours is in the binary, so that a figure looks the
//! same wherever it is drawn; for letters that ours lacks, installed fonts are asked.

use crate::error::Error;
use crate::figure::Picture;
use fontdb::{Database, FaceInfo, ID, Source, Weight};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{FontResolver, Group, Node, Options, Tree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// From this weight on, letters are bold (CSS Fonts 4, "font-weight": 600 and above).
const BOLD: u16 = 600;
/// Most pixels of one side: 16 slides side by side.
const LONGEST_SIDE: f32 = 30_720.0;
/// Most pixels of a picture; four bytes each.
const MOST_PIXELS: f32 = 100e6;
/// Fonts looked at in a system; beyond it letters may be missing, which is said.
const MOST_FONTS: usize = 5_000;
/// Folders of fonts lie in folders of their own; a loop of links does not end.
const DEEPEST: usize = 8;

/// What draws pictures.
pub struct Pictures {
    own: Arc<Database>,
    regular: ID,
    bold: ID,
    folders: Vec<PathBuf>,
}

impl Pictures {
    /// `folders` hold fonts for letters that ours lacks, the first ones first.
    ///
    /// # Errors
    /// When our own font cannot be read: every text would be missing.
    pub fn new(folders: Vec<PathBuf>) -> Result<Self, Error> {
        let mut own = Database::new();
        let mut load = |font: &'static [u8]| {
            own.load_font_source(Source::Binary(Arc::new(font)))
                .first()
                .copied()
                .ok_or_else(|| Error::Picture("there is no font for its text".to_owned()))
        };
        // As wide as what the figures' own arithmetic expects of letters.
        let regular = load(dejavu::sans_condensed::regular())?;
        let bold = load(dejavu::sans_condensed::bold())?;
        Ok(Self { own: Arc::new(own), regular, bold, folders })
    }

    /// A figure as PNG, `scale` pixels for each of its own.
    ///
    /// # Errors
    /// When it is no SVG, or too large.
    pub fn png(&self, svg: &str, scale: f32) -> Result<Picture, Error> {
        let (tree, undrawn) = self.tree(svg)?;
        let size = tree.size();
        let (width, height) = (size.width() * scale, size.height() * scale);
        if width.max(height) > LONGEST_SIDE || width * height > MOST_PIXELS {
            return Err(Error::Picture(format!("{width} by {height} pixels are too many")));
        }
        let (width, height) = (width.round() as u32, height.round() as u32);
        let mut pixels = Pixmap::new(width, height)
            .ok_or_else(|| Error::Picture(format!("it has {width} by {height} pixels")))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        let png = pixels.encode_png().map_err(|error| Error::Picture(error.to_string()))?;
        Ok(Picture { png, width, height, undrawn })
    }

    /// What is to be drawn. Installed fonts are opened only where ours are not enough, so that
    /// elsewhere a picture depends on none of them.
    fn tree(&self, svg: &str) -> Result<(Tree, BTreeSet<char>), Error> {
        let tree = self.parsed(svg, Arc::clone(&self.own))?;
        let undrawn = undrawn(tree.root());
        if undrawn.is_empty() || self.folders.is_empty() {
            return Ok((tree, undrawn));
        }
        let mut all = Database::clone(&self.own);
        for file in self.installed() {
            // What cannot be read as a font is none.
            let _ = all.load_font_file(&file);
        }
        let tree = self.parsed(svg, Arc::new(all))?;
        let undrawn = self::undrawn(tree.root());
        Ok((tree, undrawn))
    }

    /// Files of fonts, in an order that depends on their names alone.
    fn installed(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in &self.folders {
            gather(folder, DEEPEST, &mut files);
        }
        files
    }

    /// Whatever family is asked for gets our font: of one that is not found, text would be left
    /// out without a word.
    fn parsed(&self, svg: &str, fonts: Arc<Database>) -> Result<Tree, Error> {
        let (regular, bold) = (self.regular, self.bold);
        let mut options = Options { fontdb: fonts, ..Options::default() };
        options.font_resolver.select_font =
            Box::new(move |font, _| Some(if font.weight() < BOLD { regular } else { bold }));
        let any = FontResolver::default_fallback_selector();
        options.font_resolver.select_fallback = Box::new(move |letter, used, fonts| {
            let found = any(letter, used, fonts)?;
            Some(of_weight(found, used.first() == Some(&bold), used, fonts))
        });
        // A figure holds no picture; one that a name smuggled in stays unread.
        options.image_href_resolver.resolve_string = Box::new(|_, _| None);
        options.image_href_resolver.resolve_data = Box::new(|_, _, _| None);
        Tree::from_str(svg, &options).map_err(|error| Error::Picture(error.to_string()))
    }
}

/// The font of the same family that is bold, or is not: bold letters stay so in other scripts.
fn of_weight(found: ID, is_bold: bool, used: &[ID], fonts: &Database) -> ID {
    let Some(face) = fonts.face(found) else { return found };
    let wanted = if is_bold { Weight::BOLD } else { Weight::NORMAL };
    let is_alike = |one: &&FaceInfo| {
        one.style == face.style && one.families == face.families && !used.contains(&one.id)
    };
    let distance = |one: &&FaceInfo| one.weight.0.abs_diff(wanted.0);
    fonts.faces().filter(is_alike).min_by_key(distance).map_or(found, |one| one.id)
}

fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_font = ["ttf", "otf", "ttc", "otc"].contains(&ending.to_ascii_lowercase().as_str());
        if path.is_dir() && depth > 0 {
            gather(&path, depth - 1, files);
        } else if is_font && files.len() < MOST_FONTS {
            files.push(path);
        }
    }
}

/// Letters without a glyph.
fn undrawn(group: &Group) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    for node in group.children() {
        match node {
            Node::Group(inner) => found.extend(undrawn(inner)),
            Node::Text(text) => {
                let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                // Glyph 0 is the font's box for what it lacks (OpenType, "Glyph 0: the .notdef").
                let missing = glyphs.filter(|glyph| glyph.id.0 == 0);
                found.extend(missing.flat_map(|glyph| glyph.text.chars()));
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str) -> String {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='40'>\
             <text x='5' y='20' font-family='system-ui, sans-serif'>{text}</text></svg>"
        )
    }

    fn ink(picture: &Picture) -> usize {
        let pixels = Pixmap::decode_png(&picture.png).unwrap();
        pixels.pixels().iter().filter(|pixel| pixel.alpha() > 0).count()
    }

    #[test]
    fn text_is_drawn_where_no_font_is_installed() {
        let pictures = Pictures::new(Vec::new()).unwrap();
        let picture = pictures.png(&figure("▲ clearly better ÷2.4 × µs −3 %"), 2.0).unwrap();
        assert_eq!((picture.width, picture.height), (400, 80));
        assert!(ink(&picture) > 500, "{} pixels", ink(&picture));
        assert_eq!(picture.undrawn, BTreeSet::new());
    }

    #[test]
    fn letters_that_no_font_has_are_named() {
        let pictures = Pictures::new(vec![PathBuf::from("/nonexistent")]).unwrap();
        let picture = pictures.png(&figure("서버 a"), 1.0).unwrap();
        assert_eq!(picture.undrawn, BTreeSet::from(['서', '버']));
    }

    #[test]
    fn installed_fonts_draw_what_ours_lacks() {
        let installed = Pictures::new(vec![PathBuf::from("/usr/share/fonts")]).unwrap();
        let text = "판정: 뚜렷이 더 좋음 ▲ +12.3 %";
        let picture = installed.png(&figure(text), 2.0).unwrap();
        if !picture.undrawn.is_empty() {
            return testing::skip("no font with Hangul is installed: apt-get install fonts-nanum");
        }
        let boxes = Pictures::new(Vec::new()).unwrap().png(&figure(text), 2.0).unwrap();
        assert!(ink(&picture) > 500 && picture.png != boxes.png);
        let bold = figure(text).replace("<text", "<text font-weight='700'");
        let bold = installed.png(&bold, 2.0).unwrap();
        assert!(ink(&bold) > ink(&picture), "{} and {}", ink(&bold), ink(&picture));
        assert_eq!(boxes.undrawn.len(), 8, "{:?}", boxes.undrawn);
    }

    #[test]
    fn a_picture_too_large_is_refused() {
        let pictures = Pictures::new(Vec::new()).unwrap();
        assert!(matches!(pictures.png(&figure("a"), 1e5), Err(Error::Picture(_))));
        assert!(matches!(pictures.png("<html/>", 1.0), Err(Error::Picture(_))));
    }

    #[test]
    fn nothing_beside_the_figure_is_read() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
                   <image href='/proc/self/environ' width='9' height='9'/>\
                   <image href='data:image/png;base64,AAAA' width='9' height='9'/></svg>";
        let picture = Pictures::new(Vec::new()).unwrap().png(svg, 1.0).unwrap();
        assert_eq!(ink(&picture), 0);
    }
}
