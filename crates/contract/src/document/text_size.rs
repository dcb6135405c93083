//! How much a text of TOML holds, counted before its parser holds any of it.

use model::{EXPERIMENT_BYTES, EXPERIMENT_WORDS, OverLimit};
use toml_parser::Source;

/// Holds the text of an experiment, or of the mapping of an import, against its limits. Text that is no
/// TOML is counted to its end, too.
///
/// # Errors
/// The first limit that it is beyond.
pub fn check_size(text: &str) -> Result<(), OverLimit> {
    EXPERIMENT_BYTES.check(text.len() as u64)?;
    let one_too_many = EXPERIMENT_WORDS.most as usize + 1;
    let words = Source::new(text).lex().take(one_too_many).count();
    EXPERIMENT_WORDS.check(words as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_words_are_counted_also_where_the_text_is_no_toml() {
        let refused = |text: &str| check_size(text).map_err(|over| over.limit.name);
        let most = EXPERIMENT_WORDS.most as usize;
        // The end of a text is a word of its parser's, too.
        assert_eq!(refused(&"=\n".repeat(most / 2 - 1)), Ok(()));
        for no_toml in ["=\n", "[\n", "\"\n", "[],", "1,"] {
            assert_eq!(refused(&no_toml.repeat(most / 2)), Err("EXPERIMENT_WORDS"), "{no_toml:?}");
        }
        let comment = |bytes: u64| format!("#{}", " ".repeat(bytes as usize - 1));
        assert_eq!(refused(&comment(EXPERIMENT_BYTES.most)), Ok(()));
        assert_eq!(refused(&comment(EXPERIMENT_BYTES.most + 1)), Err("EXPERIMENT_BYTES"));
    }
}
