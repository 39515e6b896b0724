//! A small generator of numbers (splitmix64): the same seed gives the same choices everywhere.

pub struct Dice {
    seed: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { seed }
    }

    pub fn any(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.any() % n
    }

    /// One of some, with a chance as large as its weight; `None` if there are none.
    pub fn weighted<T: Copy>(&mut self, mut choices: impl Iterator<Item = (T, u64)> + Clone) -> Option<T> {
        let mut mark = self.below(choices.clone().map(|(_, weight)| weight).sum::<u64>().max(1));
        choices.find_map(|(choice, weight)| {
            let is_here = mark < weight;
            mark = mark.saturating_sub(weight);
            is_here.then_some(choice)
        })
    }
}
