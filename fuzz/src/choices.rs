//! Inputs that are read as choices: random bytes seldom pass a checksum or a bracket, so what
//! makes a well-formed thing of them reaches what lies behind.

/// Numbers at the edges of types.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    7,
    8,
    127,
    255,
    256,
    65_535,
    65_536,
    i32::MAX as u64,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// The bytes of an input, each of them a choice. The digit 0 and the end of the input choose what
/// is sound.
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// One of `count`; the first of them where it ends.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first.wrapping_sub(b'0')) % count.max(1)
    }

    /// One of a slice that is not empty.
    pub(crate) fn one_of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// A place among very many: two bytes.
    pub(crate) fn place(&mut self, count: usize) -> usize {
        (self.below(256) * 256 + self.below(256)) % count.max(1)
    }

    /// The sound number, or one at an edge.
    pub(crate) fn number(&mut self, sound: u64) -> u64 {
        match self.below(EDGES.len() + 1) {
            0 => sound,
            edge => EDGES[edge - 1],
        }
    }

    /// Up to so many bytes as they are.
    pub(crate) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_the_end_choose_what_is_sound() {
        for bytes in [&b""[..], b"0000000"] {
            let mut choices = Choices::of(bytes);
            assert_eq!((choices.below(3), choices.place(1_000), choices.number(42)), (0, 0, 42));
        }
        let mut choices = Choices::of(b"2@abc");
        assert_eq!((choices.below(3), choices.number(42)), (2, u64::MAX));
        assert_eq!((choices.bytes(2), choices.bytes(9)), (&b"ab"[..], &b"c"[..]));
        assert!(choices.is_over());
    }
}
