//! Which sizes I/O workloads accept: records that fill sectors and files without rest, and no
//! more memory than was meant. It is told before it is tried, because a machine that swaps
//! measures nothing.

use super::pattern::SECTOR;
use model::format_size;

/// Records of one thread, so that the bookkeeping of every record fits into memory.
const MOST_RECORDS: u64 = 1 << 27;
/// Bytes of all buffers, and of all lists of records.
const MOST_BYTES: u64 = 4 << 30;

/// Why transfers of `record` bytes (called `name`) cannot go through `size` bytes.
pub fn unfit_record(name: &str, record: u64, size: u64) -> Option<String> {
    if !record.is_multiple_of(SECTOR) {
        return Some(format!("{name} must be a multiple of {SECTOR} and is {record}"));
    }
    (!size.is_multiple_of(record)).then(|| {
        let [size, record] = [size, record].map(format_size);
        format!("size must be a multiple of {name}: {size} is none of {record}")
    })
}

/// Why lists of all records of `size` bytes (called `name`), with `entry` bytes for each in
/// `lists` threads, are too long.
pub fn too_many_records(
    name: &str,
    record: u64,
    size: u64,
    entry: u64,
    lists: u64,
) -> Option<String> {
    let records = size / record;
    if records > MOST_RECORDS {
        return Some(format!(
            "{name} has {records} records and may have {MOST_RECORDS}: make record larger"
        ));
    }
    let bytes = records.saturating_mul(entry).saturating_mul(lists);
    (bytes > MOST_BYTES).then(|| {
        format!(
            "{lists} threads with {records} records each need {} MiB of lists and may have {} MiB: make record larger",
            bytes >> 20,
            MOST_BYTES >> 20
        )
    })
}

/// Why buffers of so many bytes, which the parameters called `names` ask for, are too large.
pub fn too_large_buffers(names: &str, bytes: u64) -> Option<String> {
    (bytes > MOST_BYTES).then(|| {
        format!("{names} need {} MiB of buffers and may have {} MiB", bytes >> 20, MOST_BYTES >> 20)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_no_problem_and_what_does_not_is_told() {
        let limit = MOST_RECORDS * 512;
        assert_eq!(too_many_records("size", 512, limit, 4, 8), None);
        for (found, why) in [
            (
                too_many_records("size", 512, limit + 512, 1, 1),
                "134217729 records and may have 134217728",
            ),
            (
                too_many_records("size", 512, limit, 4, 9),
                "9 threads with 134217728 records each need 4608",
            ),
            (too_many_records("size", 512, limit, u64::MAX, 2), "MiB of lists"),
            (too_large_buffers("depth", MOST_BYTES + 1), "depth need 4096 MiB of buffers"),
            (unfit_record("record", 1000, 1 << 20), "record must be a multiple of 512"),
            (unfit_record("stream_record", 48 << 10, 64 << 10), "64k is none of 48k"),
        ] {
            assert!(found.as_ref().is_some_and(|text| text.contains(why)), "{why}: {found:?}");
        }
        assert_eq!(too_large_buffers("depth", MOST_BYTES), None);
        assert_eq!(unfit_record("record", 4096, 1 << 20), None);
    }
}
