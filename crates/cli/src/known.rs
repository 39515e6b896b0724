//! Tests of the earlier parts of a campaign, whose paths come up again after it was killed.

use std::collections::{HashMap, HashSet};

use report::TestId;
use witness::Witness;

/// What tells paths of a campaign apart: their decisions, and the bytes of their inputs where runs of a campaign decide
/// about different things.
pub type PathKey = (Vec<u64>, Vec<Vec<u8>>);

pub fn path_key<'a>(path: &[u64], inputs: impl Iterator<Item = &'a [u8]>) -> PathKey {
    (path.to_vec(), inputs.map(<[u8]>::to_vec).collect())
}

/// Tests of a campaign that was killed. They are in the database already, and their paths come up again.
#[derive(Default)]
pub struct Known {
    tests: HashMap<PathKey, TestId>,
    /// Those whose paths have not come up yet.
    unmet: HashSet<TestId>,
    /// Behind the paths of this test none can come up again.
    settled: TestId,
    /// The last new test when the last of them came up.
    all_met_at: Option<TestId>,
}

impl Known {
    pub fn new(tests: HashMap<PathKey, TestId>, settled: TestId) -> Known {
        let unmet = tests.values().copied().collect();
        Known { tests, unmet, settled, all_met_at: None }
    }

    /// The test of a path that came up again; `last` is the last new one.
    pub fn meet(&mut self, witness: &Witness, last: TestId) -> Option<TestId> {
        if self.tests.is_empty() {
            return None;
        }
        let inputs = witness.inputs.iter().map(|input| &input.bytes[..]);
        let test = *self.tests.get(&path_key(&witness.path, inputs))?;
        if self.unmet.remove(&test) && self.unmet.is_empty() {
            self.all_met_at = Some(last);
        }
        Some(test)
    }

    /// Behind the paths of which test none can come up after a checkpoint for which `settled` of this part is so. As long as
    /// tests of earlier parts can still come up, that is where this part began: they are among those that have to be known.
    pub fn settled(&self, settled: Option<TestId>, before: TestId) -> TestId {
        let all_met_at = if self.tests.is_empty() { Some(before) } else { self.all_met_at };
        match (settled, all_met_at) {
            (Some(settled), Some(all_met_at)) if settled > all_met_at => settled,
            _ => self.settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use witness::Ending;

    fn witness(path: &[u64]) -> Witness {
        Witness { inputs: Vec::new(), ending: Ending::Assumed, path: path.to_vec() }
    }

    #[test]
    fn what_can_come_up_again_is_not_settled_before_it_did() {
        let key = |path: &[u64]| path_key(path, std::iter::empty());
        // Ten tests were there. The last checkpoint had seen the first eight.
        let tests = HashMap::from([(key(&[1, 0]), TestId(9)), (key(&[1, 1]), TestId(10))]);
        let mut known = Known::new(tests, TestId(8));
        let before = TestId(10);
        assert_eq!(known.settled(None, before), TestId(8));
        assert_eq!(known.meet(&witness(&[1, 0]), TestId(10)), Some(TestId(9)));
        assert_eq!(known.meet(&witness(&[0]), TestId(10)), None);
        // Eleven and twelve are new. A kill now must not forget the tenth.
        assert_eq!(known.settled(Some(TestId(12)), before), TestId(8));
        assert_eq!(known.meet(&witness(&[1, 1]), TestId(12)), Some(TestId(10)));
        assert_eq!(known.settled(Some(TestId(12)), before), TestId(8), "the tenth may have come after the snapshot");
        assert_eq!(known.settled(Some(TestId(13)), before), TestId(13));
    }

    #[test]
    fn where_nothing_can_come_up_again_all_that_was_told_is_settled() {
        let known = Known::new(HashMap::new(), TestId(10));
        assert_eq!(known.settled(None, TestId(10)), TestId(10));
        assert_eq!(known.settled(Some(TestId(12)), TestId(10)), TestId(12));
    }
}
