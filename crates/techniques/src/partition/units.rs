//! Units: which scalar inputs are never told apart, and what they are called.

use std::sync::Arc;

use explore::InputRequest;
use ir::Module;
use rustc_hash::FxHashMap;

use super::cover::Unit;
use super::names::scalar_name;
use super::start::Start;

/// A scalar input: the input's name across runs and its own number in it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ScalarKey {
    pub origin: u64,
    pub input: Arc<str>,
    pub idx: u32,
}

impl ScalarKey {
    pub fn new(request: &InputRequest, idx: usize) -> ScalarKey {
        ScalarKey { origin: request.origin, input: request.name.clone(), idx: idx as u32 }
    }
}

/// All units that ever came up.
pub struct Units {
    module: Arc<Module>,
    start: Option<Start>,
    by_key: FxHashMap<ScalarKey, Unit>,
    /// Names of the scalars of each unit.
    names: Vec<Vec<String>>,
    /// Units of the parts given by hand.
    given: FxHashMap<usize, Unit>,
    /// How often an input of a name has come up, to tell apart inputs of one name.
    namesakes: FxHashMap<Arc<str>, Vec<u64>>,
}

impl Units {
    pub fn new(module: Arc<Module>, start: Option<Start>) -> Units {
        Units {
            module,
            start,
            by_key: FxHashMap::default(),
            names: Vec::new(),
            given: FxHashMap::default(),
            namesakes: FxHashMap::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn all(&self) -> impl Iterator<Item = Unit> + use<> {
        0..self.names.len() as Unit
    }

    /// The unit of a scalar that is asked for.
    pub fn unit(&mut self, request: &InputRequest, idx: usize) -> Unit {
        let key = ScalarKey::new(request, idx);
        if let Some(unit) = self.by_key.get(&key) {
            return *unit;
        }
        let name = self.call(request, idx);
        let given = self.start.as_ref().and_then(|start| start.part_of(&name));
        let unit = match given.and_then(|part| self.given.get(&part)) {
            Some(unit) => *unit,
            None => {
                self.names.push(Vec::new());
                (self.names.len() - 1) as Unit
            }
        };
        if let Some(part) = given {
            self.given.insert(part, unit);
        }
        self.names[unit as usize].push(name);
        self.by_key.insert(key, unit);
        unit
    }

    fn call(&mut self, request: &InputRequest, idx: usize) -> String {
        let namesakes = self.namesakes.entry(request.name.clone()).or_default();
        let number = namesakes.iter().position(|origin| *origin == request.origin).unwrap_or_else(|| {
            namesakes.push(request.origin);
            namesakes.len() - 1
        });
        let input = match number {
            0 => request.name.to_string(),
            number => format!("{}#{}", request.name, number + 1),
        };
        let offset = request.scalars[idx].offset;
        scalar_name(&self.module, &input, request.ty, request.bytes, offset, request.scalars.len())
    }

    /// Names of a unit's scalars.
    pub fn names(&self, unit: Unit) -> impl Iterator<Item = &str> {
        self.names[unit as usize].iter().map(String::as_str)
    }

    pub fn name(&self, unit: Unit) -> &str {
        self.names(unit).next().unwrap_or_default()
    }

    /// Names in the partition given by hand that no input has.
    pub fn unknown_names(&self) -> Vec<&str> {
        let scalars: Vec<String> = self.names.iter().flatten().cloned().collect();
        self.start.as_ref().map_or(Vec::new(), |start| start.unknown(&scalars))
    }
}
