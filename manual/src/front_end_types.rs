//! The types of web/src/generated in TypeScript: what the page is given, and what a server tells.
//! They are declared from the Rust types that are serialised, so that a field that is renamed or
//! gone is an error where the front end is built.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use ts_rs::{Config, TS, TypeVisitor};

/// A file of declarations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Module {
    /// Its name without `.ts`.
    name: &'static str,
    about: &'static str,
}

const PAGE: Module = Module { name: "page", about: "What the page is given: `schedlab.page/1`." };
const LIVE: Module = Module {
    name: "live",
    about: "What a server tells: `schedlab.live/2` as events, and lists as JSON.\n\
            Times `_ms` are milliseconds since 1970, lengths milliseconds.",
};

/// Longer unions have a line for each member.
const LONGEST_LINE: usize = 100;

/// Name and content of every file.
///
/// # Errors
/// When two types have one name.
pub fn files() -> Result<Vec<(String, String)>, String> {
    let mut declarations = Declarations::of(PAGE);
    report::visit_page(&mut declarations);
    let page = declarations.finish();
    declarations.module = LIVE;
    server::visit_protocol(&mut declarations);
    schedlab::visit_history(&mut declarations);
    let live = declarations.finish();
    if declarations.clashes.is_empty() {
        return Ok(vec![page, live]);
    }
    let names: Vec<String> = declarations.clashes.into_iter().collect();
    Err(format!(
        "cannot declare the front end's types: two have the name {}; give one of them another \
         with #[ts(rename = \"...\")]",
        names.join(", ")
    ))
}

/// Declares each type that it is shown once, with all that it is made of. By name, for the order
/// in which parts of a type are shown is not always the same.
struct Declarations {
    config: Config,
    /// What is written.
    module: Module,
    declared: BTreeMap<String, String>,
    /// Names that other modules declare.
    imported: BTreeMap<Module, BTreeSet<String>>,
    /// What each name stands for, and where it is declared.
    known: BTreeMap<String, (TypeId, Module)>,
    /// Names of two types.
    clashes: BTreeSet<String>,
}

impl Declarations {
    fn of(module: Module) -> Self {
        Self {
            // JSON has no other numbers, and those of 64 bits that need all of them are texts.
            config: Config::new().with_large_int("number"),
            module,
            declared: BTreeMap::new(),
            imported: BTreeMap::new(),
            known: BTreeMap::new(),
            clashes: BTreeSet::new(),
        }
    }

    /// The file of what was shown since the last one.
    fn finish(&mut self) -> (String, String) {
        let imports: String = std::mem::take(&mut self.imported)
            .into_iter()
            .map(|(module, names)| {
                let names: Vec<String> = names.into_iter().collect();
                format!("\nimport type {{ {} }} from \"./{}\";\n", names.join(", "), module.name)
            })
            .collect();
        let declared: String = std::mem::take(&mut self.declared).into_values().collect();
        let Module { name, about } = self.module;
        let written = "Written by `cargo xtask docs` from the Rust types; nobody edits it.";
        let head = comment(&format!("{about}\n{written}"), 0);
        (format!("{name}.ts"), format!("{head}{imports}{declared}"))
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Numbers, texts and what holds others have no declaration of their own.
        if T::output_path().is_none() {
            return;
        }
        let (name, id) = (T::ident(&self.config), TypeId::of::<T>());
        match self.known.get(&name) {
            Some((known, _)) if *known != id => {
                self.clashes.insert(name);
            }
            Some((_, module)) if *module != self.module => {
                self.imported.entry(*module).or_default().insert(name);
            }
            Some(_) => {}
            None => {
                let docs = T::docs().map_or_else(String::new, |docs| comment(&docs, 0));
                let declared = declaration(&name, &T::inline(&self.config));
                self.declared.insert(name.clone(), format!("\n{docs}{declared}"));
                self.known.insert(name, (id, self.module));
                T::visit_dependencies(self);
            }
        }
    }
}

/// `export interface NAME` of an object, else `export type NAME`.
fn declaration(name: &str, definition: &str) -> String {
    if let Some(fields) = fields(definition) {
        return format!("export interface {name} {}\n", object(&fields, 0));
    }
    let members: Vec<String> =
        parts(definition, '|').iter().map(|member| shape(member, 2)).collect();
    let line = format!("export type {name} = {};\n", members.join(" | "));
    if line.len() <= LONGEST_LINE {
        return line;
    }
    format!("export type {name} =\n  | {};\n", members.join("\n  | "))
}

/// A type; an object with comments has a line for each field.
fn shape(definition: &str, indent: usize) -> String {
    let fields = fields(definition).filter(|_| definition.contains("/*"));
    fields.map_or_else(|| definition.to_owned(), |fields| object(&fields, indent))
}

/// The fields of an object; `None` of anything else, and of a map.
fn fields(definition: &str) -> Option<Vec<&str>> {
    let inner = definition.strip_prefix('{')?.strip_suffix('}')?;
    let is_one = parts(definition, '|').len() == 1 && parts(definition, '&').len() == 1;
    (is_one && !inner.trim_start().starts_with('[')).then(|| parts(inner, ','))
}

/// Fields between braces, the second of which has this indent.
fn object(fields: &[&str], indent: usize) -> String {
    let (outer, inner) = (" ".repeat(indent), indent + 2);
    let line = |field: &&str| {
        let (docs, field) = match field.split_once("*/").filter(|_| field.starts_with("/*")) {
            Some((docs, field)) => (comment(docs, inner), field.trim()),
            None => (String::new(), *field),
        };
        let field = match field.split_once(": ") {
            Some((name, definition)) => format!("{name}: {}", shape(definition, inner)),
            None => field.to_owned(),
        };
        format!("{docs}{}{field};\n", " ".repeat(inner))
    };
    let lines: String = fields.iter().map(line).collect();
    format!("{{\n{lines}{outer}}}")
}

/// The text of a comment as one, with so many spaces before each line.
fn comment(docs: &str, indent: usize) -> String {
    let indent = " ".repeat(indent);
    let lines: Vec<&str> = docs
        .lines()
        .map(|line| line.trim().trim_start_matches(['/', '*']).trim_end_matches("*/").trim())
        .skip_while(|line| line.is_empty())
        .collect();
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    match &lines[..last] {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String = lines
                .iter()
                .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
                .collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// What stands between separators, without those in comments, texts and brackets; nothing blank.
fn parts(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    let mut place = 0;
    while let Some(letter) = text[place..].chars().next() {
        let rest = &text[place..];
        let length = match letter {
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ => letter.len_utf8(),
        };
        match letter {
            '{' | '[' | '<' | '(' => depth += 1,
            '}' | ']' | '>' | ')' => depth = depth.saturating_sub(1),
            _ if letter == separator && depth == 0 => {
                parts.push(&text[begin..place]);
                begin = place + length;
            }
            _ => {}
        }
        place += length;
    }
    parts.push(&text[begin..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_comments_texts_and_brackets_separates_nothing() {
        let text = "/** a, b */ one: [c, d], \"e, f\": Array<{ g: h, }>, ";
        assert_eq!(parts(text, ','), ["/** a, b */ one: [c, d]", "\"e, f\": Array<{ g: h, }>"]);
    }

    #[test]
    fn each_field_has_a_line_with_its_comment_above() {
        let definition = "{ a: number, \n/**\n * Its b,\n * or c.\n */\n\"b\"?: { \n/**\n * A d: e.\n \
                          */\nd: string | null, }, f: { [key in string]: number }, }";
        let expected = "export interface One {\n  a: number;\n  /**\n   * Its b,\n   * or c.\n   */\n  \
                        \"b\"?: {\n    /** A d: e. */\n    d: string | null;\n  };\n  f: { [key in \
                        string]: number };\n}\n";
        assert_eq!(declaration("One", definition), expected);
    }

    #[test]
    fn long_unions_have_a_line_for_each_member() {
        assert_eq!(declaration("Few", "\"a\" | \"b\""), "export type Few = \"a\" | \"b\";\n");
        let members: Vec<String> = (0..30).map(|place| format!("\"m{place}\"")).collect();
        let many = declaration("Many", &members.join(" | "));
        assert_eq!(many.lines().count(), 31, "{many}");
        assert!(
            many.starts_with("export type Many =\n  | \"m0\"\n") && many.ends_with("\"m29\";\n")
        );
        let map = "{ [key in string]: string }";
        assert_eq!(declaration("Map", map), format!("export type Map = {map};\n"));
    }

    mod elsewhere {
        #[derive(ts_rs::TS)]
        pub struct Same;
    }

    #[derive(TS)]
    struct Same;

    #[test]
    fn two_types_of_one_name_are_refused() {
        let mut declarations = Declarations::of(PAGE);
        declarations.visit::<Same>();
        declarations.visit::<Same>();
        assert_eq!(declarations.clashes.len(), 0);
        declarations.visit::<elsewhere::Same>();
        assert_eq!(declarations.clashes.into_iter().collect::<Vec<_>>(), ["Same"]);
    }
}
