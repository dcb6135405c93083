//! Stored histograms of our own layout, read bucket by bucket: thousands are read at once, and
//! most of their 36,000 buckets are empty. The library reads every other layout.
//!
//! The format is HdrHistogram's V2: a header, then the counts in order as LEB128 zig-zag
//! numbers, a negative one being so many empty buckets (HdrHistogram's
//! `AbstractHistogram.encodeIntoByteBuffer`, version 2.1).

use super::layout::{MOST_BUCKETS, highest};
use super::{HIGHEST_NS, SIGNIFICANT_DIGITS};
use crate::HISTOGRAM_COUNTS;
use flate2::read::ZlibDecoder;
use std::io::Read;

const COMPRESSED: u32 = 0x1c84_9314;
const COOKIE: u32 = 0x1c84_9313;
/// Bytes of the header within.
const HEADER: usize = 40;
/// Nine bytes for each of them, and the header.
const LONGEST: u64 = MOST_BUCKETS * 9 + HEADER as u64;

/// Highest value and count of each bucket that is not empty; `None` where the bytes are not
/// plainly of our layout, whatever else they may be.
pub(super) fn buckets(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (cookie, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let packed = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    if u32::from_be_bytes(*cookie) != COMPRESSED {
        return None;
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(packed).take(LONGEST).read_to_end(&mut plain).ok()?;
    let (header, counts) = plain.split_at_checked(HEADER)?;
    let expected = [
        &COOKIE.to_be_bytes()[..],
        &u32::try_from(counts.len()).ok()?.to_be_bytes(),
        &0_u32.to_be_bytes(),
        &u32::from(SIGNIFICANT_DIGITS).to_be_bytes(),
        &1_u64.to_be_bytes(),
        &HIGHEST_NS.to_be_bytes(),
        &1_f64.to_be_bytes(),
    ]
    .concat();
    if header != expected {
        return None;
    }
    counted(counts)
}

/// Refuses what a header declares beyond our range, in either form, before anything of that size
/// is held.
pub(super) fn check_declared(bytes: &[u8]) -> Result<(), String> {
    let cut = || "it ends within its header".to_owned();
    let (cookie, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    let mut header = [0; HEADER];
    if u32::from_be_bytes(*cookie) == COMPRESSED {
        let packed = rest.get(4..).ok_or_else(cut)?;
        ZlibDecoder::new(packed).read_exact(&mut header).map_err(|error| error.to_string())?;
    } else {
        header.copy_from_slice(bytes.get(..HEADER).ok_or_else(cut)?);
    }
    let number =
        |from: usize| header[from..from + 4].iter().fold(0_u32, |n, b| (n << 8) | u32::from(*b));
    let long = |from: usize| (u64::from(number(from)) << 32) | u64::from(number(from + 4));
    HISTOGRAM_COUNTS.check(u64::from(number(4))).map_err(|over| over.to_string())?;
    let (digits, lowest, highest) = (number(12), long(16), long(24));
    if digits > u32::from(SIGNIFICANT_DIGITS) || highest > HIGHEST_NS * 2 || lowest > highest {
        return Err("its range is not one of ours".to_owned());
    }
    Ok(())
}

fn counted(mut counts: &[u8]) -> Option<Vec<(u64, u64)>> {
    let mut found = Vec::new();
    let mut index = 0_u64;
    while !counts.is_empty() {
        let number = signed(&mut counts)?;
        if number < 0 {
            index = index.checked_add(number.unsigned_abs())?;
        } else {
            if number > 0 {
                let highest = highest(index)?;
                if highest > super::LAYOUT.highest_equivalent(HIGHEST_NS) {
                    return None;
                }
                found.push((highest, number.unsigned_abs()));
            }
            index += 1;
        }
        if index > MOST_BUCKETS {
            return None;
        }
    }
    Some(found)
}

/// The next LEB128 number of at most nine bytes, the ninth of which has eight bits, zig-zag.
fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            value |= u64::from(*byte) << 56;
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(((value >> 1) as i64) ^ -((value & 1) as i64))
}
