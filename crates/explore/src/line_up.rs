//! A line-up: the techniques of a campaign, and the rules by which what they say becomes one answer.

use ir::{FuncId, GlobalId};
use vm::{Effect, Event, Flow, Image, InputForm, InputRequest, Interest, Labels, Sizes, State};
use witness::{Ending, InputValue, Witness};

use crate::{
    Admission, Asked, Asking, CallChoice, Discovery, Driver, Endings, Events, First, Flows, Foreseen, Leads, Looks,
    Maker, Meanings, Means, Meant, MoreTrials, Path, Point, Points, Rank, Report, Seats, Shapings, Technique, Told,
    Trial, Tried,
};

/// The techniques of a campaign and who drives it. Without any it is plain exploration.
#[derive(Default)]
pub struct LineUp {
    pub techniques: Vec<Box<dyn Technique>>,
    /// The outermost first.
    pub drivers: Vec<Box<dyn Driver>>,
}

impl LineUp {
    pub fn plain() -> LineUp {
        LineUp::default()
    }

    /// Whether several workers can share the work.
    pub fn takes_workers(&self) -> bool {
        self.for_workers().is_some()
    }

    /// How to make as much for other workers, where every technique can be had more than once.
    pub(crate) fn for_workers(&self) -> Option<Vec<Maker>> {
        self.techniques.iter().map(|technique| technique.for_workers()).collect()
    }

    /// Those with an interest in points.
    pub(crate) fn points(&mut self) -> impl Iterator<Item = &mut dyn Points> {
        self.techniques.iter_mut().filter_map(|technique| technique.points())
    }

    fn endings(&mut self) -> impl Iterator<Item = &mut dyn Endings> {
        self.techniques.iter_mut().filter_map(|technique| technique.endings())
    }

    fn events(&mut self) -> impl Iterator<Item = &mut dyn Events> {
        self.techniques.iter_mut().filter_map(|technique| technique.events())
    }

    fn flows(&mut self) -> impl Iterator<Item = &mut dyn Flows> {
        self.techniques.iter_mut().filter_map(|technique| technique.flows())
    }

    fn seats(&mut self) -> impl Iterator<Item = &mut dyn Seats> {
        self.techniques.iter_mut().filter_map(|technique| technique.seats())
    }

    // What the machine is to do for them.

    pub(crate) fn interest(&mut self) -> Interest {
        let flow = if self.tracks_flow() { Interest::FLOW } else { Interest::NONE };
        self.events().fold(flow, |interest, events| interest.with(events.interest()))
    }

    pub(crate) fn tracks_flow(&mut self) -> bool {
        self.flows().next().is_some()
    }

    pub(crate) fn watches(&mut self) -> bool {
        self.points().next().is_some()
    }

    pub(crate) fn foresees(&mut self) -> bool {
        self.techniques.iter_mut().any(|technique| technique.foresight().is_some())
    }

    pub(crate) fn goes_nearest_first(&mut self) -> bool {
        self.points().any(|points| points.first() == First::Nearest)
    }

    // What they are told.

    pub(crate) fn observe(&mut self, state: &mut State, event: &Event) {
        self.events().for_each(|events| events.observe(state, event));
    }

    pub(crate) fn run_begins(&mut self) {
        self.techniques.iter_mut().for_each(|technique| technique.run_begins());
    }

    pub(crate) fn flow_begins(&mut self, flow: &mut Flow) {
        self.flows().for_each(|flows| flows.flow_begins(flow));
    }

    pub(crate) fn flow_ended(&mut self, flow: &mut Flow, labels: &Labels, image: &Image) {
        self.flows().for_each(|flows| flows.flow_ended(flow, labels, image));
    }

    pub(crate) fn ended(&mut self, path: &Path, ending: &Ending) {
        self.endings().for_each(|endings| endings.ended(path, ending));
    }

    /// Whether somebody looks at the witnesses of paths that are not written.
    pub(crate) fn looks_at_witnesses(&mut self) -> bool {
        self.endings().any(|endings| endings.looks() == Looks::AtEveryWitness)
    }

    pub(crate) fn furnish(&mut self, path: &Path, inputs: &mut Vec<InputValue>) {
        self.endings().for_each(|endings| endings.furnish(path, inputs));
    }

    pub(crate) fn witnessed(&mut self, path: &Path, witness: &Witness) {
        self.endings().for_each(|endings| endings.witnessed(path, witness));
    }

    // What they decide.

    /// How a path ends that one of them does not keep.
    pub(crate) fn admit(&mut self, path: &Path) -> Option<Ending> {
        self.techniques.iter_mut().find_map(|technique| match technique.seats()?.admit(path) {
            Admission::Keep | Admission::Hold | Admission::Unwatch(_) => None,
            Admission::Prune(reason) => Some(Ending::Pruned { technique: technique.name(), reason }),
            Admission::End(ending) => Some(*ending),
        })
    }

    /// The first technique that does not keep the path decides.
    pub(crate) fn admit_at(&mut self, point: &Point, means: &mut Means) -> (&'static str, Admission) {
        let mut verdict = ("", Admission::Keep);
        for technique in &mut self.techniques {
            let Some(points) = technique.points() else { continue };
            let admission = points.admit_at(point, means);
            if verdict.1 == Admission::Keep {
                verdict = (technique.name(), admission);
            }
        }
        verdict
    }

    /// What the first technique does that foresees something.
    pub(crate) fn foresee(
        &mut self,
        path: &mut Path,
        effect: &Effect,
        means: &mut Means,
        asking: Asking,
    ) -> Option<Foreseen> {
        self.techniques.iter_mut().find_map(|technique| technique.foresight()?.foresee(path, effect, means, asking))
    }

    pub(crate) fn claims(&mut self, module: &ir::Module) -> Vec<FuncId> {
        self.seats().flat_map(|seats| seats.claims(module)).collect()
    }

    pub(crate) fn sizes(&mut self) -> Sizes {
        let has_terms = self.seats().any(|seats| seats.sizes() == Sizes::Terms);
        if has_terms { Sizes::Terms } else { Sizes::Picked }
    }

    pub(crate) fn rank(&mut self, seed: u64) -> Option<Box<dyn Rank>> {
        self.seats().find_map(|seats| seats.rank(seed))
    }

    pub(crate) fn kind(&mut self, path: &Path) -> u64 {
        self.seats().fold(0, |kind, seats| kind.rotate_left(1) ^ seats.kind(path))
    }

    pub(crate) fn input(&mut self, path: &Path, request: &InputRequest, means: &mut Means) -> InputForm {
        self.seats().find_map(|seats| seats.input(path, request, means)).unwrap_or(InputForm::Symbolic)
    }

    pub(crate) fn world_input(&mut self, request: &InputRequest) -> InputForm {
        self.seats().find_map(|seats| seats.world_input(request)).unwrap_or(InputForm::Symbolic)
    }

    /// Of the one technique that tries something.
    pub(crate) fn trial(&mut self, last: Option<Tried>, more: MoreTrials) -> Option<Trial> {
        let mut last = last;
        self.seats().find_map(|seats| seats.trial(last.take(), more))
    }

    pub(crate) fn call(&mut self, path: &Path, func: FuncId) -> CallChoice {
        self.seats().find_map(|seats| seats.call(path, func)).unwrap_or(CallChoice::Enter)
    }

    pub(crate) fn refine(&mut self, path: &Path, effect: &Effect, means: &mut Means) -> Option<Shapings> {
        self.seats().find_map(|seats| seats.refine(path, effect, means))
    }

    pub(crate) fn chosen(&mut self, path: &Path) -> Option<u64> {
        self.seats().find_map(|seats| seats.chosen(path))
    }

    pub(crate) fn refined(&mut self, path: &mut Path, way: usize) {
        self.seats().for_each(|seats| seats.refined(path, way));
    }

    pub(crate) fn meanings(&mut self, path: &Path, asked: &Asked, means: &mut Means) -> Option<Meanings> {
        self.seats().find_map(|seats| seats.meanings(path, asked, means))
    }

    pub(crate) fn mean(&mut self, path: &mut Path, asked: &Asked, meant: Meant, means: &mut Means) {
        self.seats().for_each(|seats| seats.mean(path, asked, meant, means));
    }

    pub(crate) fn leads(&mut self, path: &Path, addr: term::TermId, means: &mut Means) -> Option<Leads> {
        self.seats().find_map(|seats| seats.leads(path, addr, means))
    }

    pub(crate) fn known(&mut self, path: &Path, condition: term::TermId, means: &mut Means) -> Option<term::TermId> {
        self.seats().find_map(|seats| seats.known(path, condition, means))
    }

    pub(crate) fn order(
        &mut self,
        path: &Path,
        addresses: (term::TermId, term::TermId),
        means: &mut Means,
    ) -> Option<String> {
        self.seats().find_map(|seats| seats.order(path, addresses, means))
    }

    pub(crate) fn places(&mut self) -> Vec<(GlobalId, u64)> {
        self.seats().flat_map(|seats| seats.places()).collect()
    }

    pub(crate) fn is_told(&mut self, path: &Path, witness: &Witness) -> bool {
        self.endings().all(|endings| endings.tells(path, witness) == Told::Yes)
    }

    // What they bring out.

    pub(crate) fn discoveries(&mut self) -> Vec<Discovery> {
        self.techniques.iter_mut().flat_map(|technique| technique.discoveries()).collect()
    }

    pub(crate) fn reports(&mut self) -> Vec<(&'static str, Report)> {
        self.techniques.iter_mut().map(|technique| (technique.name(), technique.report())).collect()
    }
}
