//! How many questions there were, and which layer answered them.

use crate::answer::Answer;
use crate::layers::Layer;
use std::time::Duration;

#[derive(Clone, Copy, Default, Debug)]
pub struct LayerCount {
    pub n_sat: u64,
    pub n_unsat: u64,
    /// Spent in this layer, answered or not.
    pub time: Duration,
}

#[derive(Clone, Default, Debug)]
pub struct Counters {
    /// Questions asked.
    pub n_asked: u64,
    /// Of these, how many went to the bit-blaster or the SMT solver.
    pub n_solver: u64,
    pub n_unknown: u64,
    /// Spent in the bit-blaster and the SMT solver.
    pub solver_time: Duration,
    /// Of this, in questions that took long: where all are quick it is zero, whatever the machine.
    pub slow_time: Duration,
    /// Models that failed their check: each is a fault of ours.
    pub n_wrong_models: u64,
    /// Answers that differed from the bare solver's, in check mode: each is a fault of ours.
    pub n_disagreements: u64,
    /// Questions that could not be written to the record.
    pub n_unrecorded: u64,
    by_layer: [LayerCount; Layer::ALL.len()],
}

impl Counters {
    #[inline]
    pub fn layer(&self, layer: Layer) -> &LayerCount {
        &self.by_layer[layer as usize]
    }

    #[inline]
    pub(crate) fn layer_mut(&mut self, layer: Layer) -> &mut LayerCount {
        &mut self.by_layer[layer as usize]
    }

    #[inline]
    pub(crate) fn answered(&mut self, layer: Layer, answer: &Answer) {
        let count = self.layer_mut(layer);
        match answer {
            Answer::Sat(_) => count.n_sat += 1,
            Answer::Unsat => count.n_unsat += 1,
            Answer::Unknown(_) => {}
        }
    }

    /// Name and counts of each layer, in the order of the stack.
    pub fn by_layer(&self) -> impl Iterator<Item = (&'static str, &LayerCount)> {
        Layer::ALL.into_iter().map(|layer| (layer.name(), self.layer(layer)))
    }

    /// Adds another worker's counts.
    pub fn merge(&mut self, other: &Counters) {
        let Counters {
            n_asked,
            n_solver,
            n_unknown,
            solver_time,
            slow_time,
            n_wrong_models,
            n_disagreements,
            n_unrecorded,
            by_layer,
        } = other;
        self.n_asked += n_asked;
        self.n_solver += n_solver;
        self.n_unknown += n_unknown;
        self.solver_time += *solver_time;
        self.slow_time += *slow_time;
        self.n_wrong_models += n_wrong_models;
        self.n_disagreements += n_disagreements;
        self.n_unrecorded += n_unrecorded;
        for (mine, theirs) in self.by_layer.iter_mut().zip(by_layer) {
            mine.n_sat += theirs.n_sat;
            mine.n_unsat += theirs.n_unsat;
            mine.time += theirs.time;
        }
    }
}
