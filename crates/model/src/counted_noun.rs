//! A number with its noun.

use std::fmt::Display;

/// How many of a thing, named by its noun for one: `1 block`, `3 blocks`. What reports say in several
/// languages is said by `phrases::counted!`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_in_the_singular_and_all_others_in_the_plural() {
        assert_eq!(counted(0_usize, "block"), "0 blocks");
        assert_eq!(counted(1_u64, "complete pair"), "1 complete pair");
        assert_eq!(counted(2_u32, "trial"), "2 trials");
    }
}
