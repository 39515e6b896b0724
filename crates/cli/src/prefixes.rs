//! What is pending, on its way into the database and out of it.

use std::collections::HashSet;

use database::{Packer, Prefixes};
use explore::Decisions;

pub fn pack(pending: &[Decisions]) -> Prefixes {
    let mut packer = Packer::default();
    let ends = Decisions::take_apart(pending, |earlier, bytes| packer.add_piece(earlier, bytes));
    ends.into_iter().for_each(|end| packer.add(end));
    packer.finish()
}

/// `None` where what was packed is damaged.
pub fn unpack(packed: &Prefixes) -> Option<Vec<Decisions>> {
    packed.each(Decisions::default(), Decisions::with_bytes)
}

/// Paths known by a hash of their decisions: that of a deep one is made from those of the pieces it shares.
pub struct Digests(HashSet<u64>);

impl Digests {
    pub fn of(paths: &[Decisions]) -> Digests {
        let digests = Decisions::take_apart(paths, |before, bytes| digest(before.unwrap_or(BEGIN), bytes));
        Digests(digests.into_iter().map(|digest| digest.unwrap_or(BEGIN)).collect())
    }

    pub fn has(&self, path: &[u8]) -> bool {
        self.0.contains(&digest(BEGIN, path))
    }
}

const BEGIN: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: it does not matter where a path is divided.
fn digest(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |digest, byte| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Vec<Decisions> {
        let mut long = Decisions::default();
        let mut paths = vec![Decisions::default()];
        for decision in 0..300 {
            paths.push(long.clone());
            paths.push([7, decision].into_iter().collect());
            long.push(decision);
        }
        paths
    }

    #[test]
    fn what_was_packed_comes_back_in_its_order() {
        let paths = paths();
        let packed = pack(&paths);
        assert_eq!(packed.len(), 601);
        let back = unpack(&packed).expect("whole");
        let decisions = |paths: &[Decisions]| paths.iter().map(Decisions::to_vec).collect::<Vec<_>>();
        assert_eq!(decisions(&back), decisions(&paths));
    }

    #[test]
    fn digests_know_their_paths_and_no_others() {
        let digests = Digests::of(&paths());
        assert!(paths().iter().all(|path| digests.has(&path.to_bytes())));
        assert!(!digests.has(&[8, 1]) && !digests.has(&[7]));
    }
}
