//! Interest in flow: where it is there, every value carries the inputs it depends on.

use vm::{Flow, Image, Labels};

pub trait Flows {
    /// A run is about to begin; what flow is to learn in it can be set.
    fn flow_begins(&mut self, flow: &mut Flow);

    /// A run is over.
    fn flow_ended(&mut self, _flow: &mut Flow, _labels: &Labels, _image: &Image) {}
}
