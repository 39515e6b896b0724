//! The kinds of objects that pointers point to, and where they lie in each other.
//!
//! Types are taken by what they are in memory: integers of one size are one kind whatever their sign, a typedef is what it stands
//! for, `const` changes nothing. A kind has numbers of its own for the objects that may be made of it, so a number tells the
//! kind, and objects of kinds that do not lie in each other can never be the same.

use std::ops::Range;
use std::sync::Arc;

use ir::{BaseKind, GlobalId, Module, SourceType, SourceTypeId};
use rustc_hash::FxHashMap;
use witness::{Field, FieldKind};

use super::cells::{Cell, Holds, below, byte_cell, fields, filled, united, words};
use super::heap::{Made, Origin};

/// Elements behind a pointer to characters, or to nobody knows what: as many as without this technique.
const TEXT_BYTES: u64 = 16;

/// Elements of an array that a pointer may point to, from the first on.
const MAX_ELEMENTS: u64 = 64;

/// Cells of one kind; larger types are bytes from there on.
const MAX_CELLS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub u16);

/// What a `void *` points to, as long as nobody says more.
pub const UNKNOWN: KindId = KindId(0);

/// Whether anything is known of what lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Layout,
    /// A type that is declared and not defined.
    NameOnly,
}

#[derive(Clone, Debug)]
pub struct Kind {
    pub key: String,
    pub ty: Option<SourceTypeId>,
    /// C spelling of an object's type.
    pub name: Arc<str>,
    /// Of an object of its own.
    pub size: u64,
    pub known: Known,
    pub cells: Vec<Cell>,
    pub fields: Arc<[Field]>,
    /// Where objects of other kinds lie in it.
    pub places: Vec<(u64, KindId)>,
    /// The type of the elements of a flexible array member at the end, and their size.
    pub tail: Option<Tail>,
    /// The numbers of its objects.
    pub slots: Range<u16>,
}

impl Kind {
    /// Characters, or bytes.
    pub fn is_text(&self) -> bool {
        matches!(self.key.as_str(), "void" | "char")
    }
}

#[derive(Clone, Debug)]
pub struct Tail {
    pub name: String,
    pub offset: u64,
    pub element: SourceTypeId,
    pub element_bytes: u64,
}

/// Where a pointer of a kind may point: so many bytes from the start of an object with one of these numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    pub delta: i64,
    pub slots: Vec<Range<u16>>,
}

/// A variable of the program that pointers may point to. It lies at the address of one of its kind's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Landmark {
    pub global: GlobalId,
    pub kind: KindId,
    pub slot: u16,
}

/// What kinds are looked for in.
pub struct Origins<'a> {
    /// Types of inputs.
    pub roots: &'a [SourceTypeId],
    /// Types that pointers to nobody knows what are taken to point to.
    pub followed: &'a [SourceTypeId],
    /// Variables that something may point to.
    pub variables: &'a [GlobalId],
}

pub struct Kinds {
    module: Arc<Module>,
    kinds: Vec<Kind>,
    by_key: FxHashMap<String, KindId>,
    /// Bits of an object's number.
    pub slot_bits: u32,
    n_elements: u64,
    reaches: Vec<Arc<[Reach]>>,
    pub landmarks: Vec<Landmark>,
}

/// Bits of an address that are an object's number and its place in the object.
const ADDRESS_BITS: u32 = 44;

impl Kinds {
    /// The kinds that can be reached from these types, and the larger ones that they lie in.
    /// Pointers may point to so many elements of an array.
    pub fn new(module: Arc<Module>, origins: &Origins, max_objects: u64, n_elements: u64) -> Kinds {
        let mut kinds = Kinds {
            module,
            kinds: Vec::new(),
            by_key: FxHashMap::default(),
            slot_bits: 8,
            n_elements,
            reaches: Vec::new(),
            landmarks: Vec::new(),
        };
        kinds.kind_of(None);
        for root in origins.roots {
            kinds.cells_of(*root);
        }
        let has_unknown = kinds.kinds.iter().flat_map(|kind| &kind.cells).any(|cell| cell.holds.is_unknown());
        let is_unknown_root =
            |kinds: &mut Kinds, root: &SourceTypeId| kinds.cells_of(*root).iter().any(|cell| cell.holds.is_unknown());
        if has_unknown || origins.roots.iter().any(|root| is_unknown_root(&mut kinds, root)) {
            for ty in origins.followed {
                kinds.kind_of(Some(*ty));
            }
        }
        kinds.add_containers();
        kinds.add_variables(origins.variables);
        kinds.find_places();
        kinds.number(max_objects);
        for idx in 0..kinds.landmarks.len() {
            let kind = kinds.landmarks[idx].kind;
            let n_before = kinds.landmarks[..idx].iter().filter(|other| other.kind == kind).count() as u16;
            kinds.landmarks[idx].slot = kinds.get(kind).slots.start + n_before;
        }
        kinds.reaches = (0..kinds.kinds.len()).map(|idx| kinds.find_reach(KindId(idx as u16)).into()).collect();
        kinds
    }

    pub fn get(&self, kind: KindId) -> &Kind {
        &self.kinds[kind.0 as usize]
    }

    pub fn ids(&self) -> impl Iterator<Item = KindId> + use<> {
        (0..self.kinds.len() as u16).map(KindId)
    }

    /// Bits below an object's number.
    pub fn shift(&self) -> u32 {
        ADDRESS_BITS - self.slot_bits
    }

    pub fn base(&self, slot: u16) -> u64 {
        u64::from(slot) << self.shift()
    }

    /// The number of the object that an address is nearest to.
    pub fn slot_near(&self, addr: u64) -> u16 {
        ((addr + (1 << (self.shift() - 1))) >> self.shift()) as u16
    }

    pub fn made_of(&self, landmark: &Landmark) -> Made {
        let Landmark { kind, slot, .. } = *landmark;
        let (base, size) = (self.base(slot), self.get(kind).size);
        Made { kind, slot, base, size, n_elements: 1, origin: Origin::Variable }
    }

    pub fn kind_of_slot(&self, slot: u16) -> Option<KindId> {
        self.ids().find(|kind| self.get(*kind).slots.contains(&slot))
    }

    pub fn reach(&self, kind: KindId) -> &Arc<[Reach]> {
        &self.reaches[kind.0 as usize]
    }

    /// Whether it has pointers to its own kind in it, as the links of a list do.
    pub fn is_link(&self, kind: KindId) -> bool {
        let leads_back = |cell: &Cell| match &cell.holds {
            Holds::Pointer(to) => *to == kind,
            Holds::Either(kinds) => kinds.contains(&kind),
            Holds::Number | Holds::Bool | Holds::Function(_) => false,
        };
        self.get(kind).cells.iter().any(leads_back)
    }

    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The kind of objects of a type, where there is one.
    pub fn find(&self, ty: SourceTypeId) -> Option<KindId> {
        self.by_key.get(&self.key(Some(ty))).copied()
    }

    /// The cells of a type as an input of its own, which may be no kind.
    pub fn cells_of(&mut self, ty: SourceTypeId) -> Vec<Cell> {
        let mut cells = Vec::new();
        self.divide(ty, 0, String::new(), &mut cells);
        let size = self.module.size_of(ty).unwrap_or(0);
        filled(cells, size)
    }

    fn key(&self, ty: Option<SourceTypeId>) -> String {
        let Some(ty) = ty.and_then(|ty| self.module.strip(ty)) else { return "void".to_string() };
        let record = |word: &str, name: &str| match name {
            "" => format!("{word} #{}", ty.idx()),
            name => format!("{word} {name}"),
        };
        match self.module.ty(ty) {
            SourceType::Base { kind: BaseKind::Bool, .. } => "bool".to_string(),
            SourceType::Base { kind: BaseKind::Float | BaseKind::Other, bytes, .. } => format!("float{bytes}"),
            SourceType::Base { bytes: 1, .. } => "char".to_string(),
            SourceType::Base { bytes, .. } | SourceType::Enum { bytes, .. } => format!("int{bytes}"),
            SourceType::Pointer { to, .. } => format!("{} *", self.key(*to)),
            SourceType::Array { of, count } => format!("{}[{}]", self.key(*of), count.unwrap_or(0)),
            SourceType::Struct { name, .. } => record("struct", name),
            SourceType::Union { name, .. } => record("union", name),
            SourceType::Function { .. } => format!("function {}", self.signature(ty)),
            _ => "void".to_string(),
        }
    }

    /// A function type without the names that change nothing.
    pub fn signature(&self, ty: SourceTypeId) -> String {
        let Some(SourceType::Function { result, params, is_variadic }) =
            self.module.strip(ty).map(|ty| self.module.ty(ty))
        else {
            return String::new();
        };
        let params: Vec<String> = params.iter().map(|param| self.key(*param)).collect();
        let dots = if *is_variadic { ", ..." } else { "" };
        format!("{} ({}{dots})", self.key(*result), params.join(", "))
    }

    /// The kind of what a pointer to `ty` points to; it and all it leads to are entered.
    fn kind_of(&mut self, ty: Option<SourceTypeId>) -> KindId {
        let key = self.key(ty);
        if let Some(kind) = self.by_key.get(&key) {
            return *kind;
        }
        let id = KindId(self.kinds.len() as u16);
        self.by_key.insert(key.clone(), id);
        let stripped = ty.and_then(|ty| self.module.strip(ty));
        let size = stripped.and_then(|ty| self.module.size_of(ty));
        let (size, known, name) = match key.as_str() {
            "void" | "char" => (TEXT_BYTES, Known::Layout, format!("char[{TEXT_BYTES}]")),
            _ => match size.filter(|size| *size > 0) {
                Some(size) => (size, Known::Layout, self.module.spell(ty.map(|ty| self.unqualified(ty)))),
                None => (0, Known::NameOnly, self.module.spell(stripped)),
            },
        };
        self.kinds.push(Kind {
            key,
            ty: stripped,
            name: name.into(),
            size,
            known,
            cells: Vec::new(),
            fields: Arc::new([]),
            places: Vec::new(),
            tail: None,
            slots: 0..0,
        });
        let mut cells = Vec::new();
        match (self.kinds[id.0 as usize].key.as_str(), stripped) {
            ("void" | "char", _) => {
                cells.extend((0..size).map(|offset| byte_cell(offset, format!("[{offset}]"))));
            }
            (_, Some(ty)) if known == Known::Layout => self.divide(ty, 0, String::new(), &mut cells),
            _ => {}
        }
        let tail = stripped.and_then(|ty| self.flexible_tail(ty));
        let kind = &mut self.kinds[id.0 as usize];
        kind.cells = filled(cells, size);
        kind.fields = fields(&kind.cells);
        kind.tail = tail;
        if let Some(element) = self.kinds[id.0 as usize].tail.as_ref().map(|tail| tail.element) {
            self.cells_of(element);
        }
        id
    }

    fn unqualified(&self, ty: SourceTypeId) -> SourceTypeId {
        match self.module.ty(ty) {
            SourceType::Const { of: Some(of) }
            | SourceType::Volatile { of: Some(of) }
            | SourceType::Qualified { of: Some(of) } => self.unqualified(*of),
            _ => ty,
        }
    }

    fn flexible_tail(&self, ty: SourceTypeId) -> Option<Tail> {
        let SourceType::Struct { fields, .. } = self.module.ty(ty) else { return None };
        let last = fields.last()?;
        let SourceType::Array { of, count } = self.module.ty(self.module.strip(last.ty?)?) else { return None };
        let element = (*of).filter(|_| count.unwrap_or(0) == 0)?;
        let element_bytes = self.module.size_of(element).filter(|size| *size > 0)?;
        Some(Tail { name: last.name.clone(), offset: last.bit_offset / 8, element, element_bytes })
    }

    fn divide(&mut self, ty: SourceTypeId, offset: u64, path: String, cells: &mut Vec<Cell>) {
        let Some(ty) = self.module.strip(ty) else { return };
        if cells.len() > MAX_CELLS {
            return;
        }
        let module = Arc::clone(&self.module);
        match module.ty(ty) {
            SourceType::Base { bytes, kind, .. } => {
                let holds = if *kind == BaseKind::Bool && *bytes == 1 { Holds::Bool } else { Holds::Number };
                let shown = match kind {
                    BaseKind::Signed => FieldKind::Signed,
                    BaseKind::Char | BaseKind::UnsignedChar => FieldKind::Char,
                    BaseKind::Float => FieldKind::Float,
                    BaseKind::Unsigned | BaseKind::Bool | BaseKind::Other => FieldKind::Unsigned,
                };
                words(offset, *bytes, holds, path, shown, cells);
            }
            SourceType::Enum { bytes, .. } => words(offset, *bytes, Holds::Number, path, FieldKind::Signed, cells),
            SourceType::Pointer { to, .. } => {
                let pointee = to.and_then(|to| module.strip(to));
                let holds = match pointee.map(|to| (to, module.ty(to))) {
                    Some((to, SourceType::Function { .. })) => Holds::Function(self.signature(to).into()),
                    _ => Holds::Pointer(self.kind_of(*to)),
                };
                words(offset, 8, holds, path, FieldKind::Pointer, cells);
            }
            SourceType::Array { of: Some(of), count: Some(count) } => {
                let size = module.size_of(*of).unwrap_or(0);
                for idx in 0..if size == 0 { 0 } else { *count } {
                    self.divide(*of, offset + idx * size, format!("{path}[{idx}]"), cells);
                }
            }
            SourceType::Struct { fields, .. } => {
                for field in fields.iter().filter(|field| !field.is_bit_field) {
                    if let Some(ty) = field.ty {
                        self.divide(ty, offset + field.bit_offset / 8, below(&path, &field.name), cells);
                    }
                }
            }
            SourceType::Union { fields, .. } => {
                let mut members = Vec::new();
                for field in fields.iter().filter(|field| !field.is_bit_field) {
                    let mut member = Vec::new();
                    if let Some(ty) = field.ty {
                        self.divide(ty, offset, below(&path, &field.name), &mut member);
                    }
                    members.push(member);
                }
                united(members, cells);
            }
            _ => {}
        }
    }

    /// Structs that have an object of one of the kinds inside: a pointer may be taken for one to a part of them.
    fn add_containers(&mut self) {
        loop {
            let n_kinds = self.kinds.len();
            for idx in 0..self.module.types.len() {
                let ty = SourceTypeId::new(idx);
                let is_record = matches!(self.module.ty(ty), SourceType::Struct { is_complete: true, .. });
                if is_record && self.holds_record(ty) {
                    self.kind_of(Some(ty));
                }
            }
            if self.kinds.len() == n_kinds {
                return;
            }
        }
    }

    /// Whether a struct has a struct or union of one of the kinds as a part.
    fn holds_record(&self, ty: SourceTypeId) -> bool {
        let SourceType::Struct { fields, .. } = self.module.ty(ty) else { return false };
        fields.iter().filter_map(|field| self.module.strip(field.ty?)).any(|field| {
            let mut part = field;
            while let SourceType::Array { of: Some(of), .. } = self.module.ty(part) {
                match self.module.strip(*of) {
                    Some(of) => part = of,
                    None => return false,
                }
            }
            let is_record = matches!(self.module.ty(part), SourceType::Struct { .. } | SourceType::Union { .. });
            is_record && self.by_key.contains_key(&self.key(Some(part)))
        })
    }

    /// Variables that have something in them that pointers point to. Characters are not looked for: a pointer to some would have
    /// as many meanings as there are of them.
    fn add_variables(&mut self, variables: &[GlobalId]) {
        let n_pointed = self.kinds.len();
        for global in variables {
            let Some(ty) = self.module.globals[global.idx()].ty else { continue };
            let mut parts = Vec::new();
            self.parts(ty, 0, &mut parts);
            let is_pointed = |(_, kind): &(u64, KindId)| (kind.0 as usize) < n_pointed && !self.get(*kind).is_text();
            if parts.iter().any(is_pointed) {
                let kind = self.kind_of(Some(ty));
                self.landmarks.push(Landmark { global: *global, kind, slot: 0 });
            }
        }
    }

    fn find_places(&mut self) {
        for idx in 0..self.kinds.len() {
            let mut places = Vec::new();
            if let (Some(ty), Known::Layout) = (self.kinds[idx].ty, self.kinds[idx].known) {
                self.parts(ty, 0, &mut places);
            }
            let own = KindId(idx as u16);
            places.retain(|(offset, kind)| *offset != 0 || *kind != own);
            places.sort_unstable();
            places.dedup();
            self.kinds[idx].places = places;
        }
    }

    /// Every part of a type that is of one of the kinds, itself among them.
    fn parts(&self, ty: SourceTypeId, offset: u64, found: &mut Vec<(u64, KindId)>) {
        let Some(ty) = self.module.strip(ty) else { return };
        if found.len() > MAX_CELLS {
            return;
        }
        if let Some(kind) = self.by_key.get(&self.key(Some(ty))) {
            found.push((offset, *kind));
        }
        match self.module.ty(ty) {
            SourceType::Array { of: Some(of), count: Some(count) } => {
                let size = self.module.size_of(*of).unwrap_or(0);
                for idx in 0..if size == 0 { 0 } else { (*count).min(MAX_ELEMENTS) } {
                    self.parts(*of, offset + idx * size, found);
                }
            }
            SourceType::Struct { fields, .. } | SourceType::Union { fields, .. } => {
                for field in fields.iter().filter(|field| !field.is_bit_field) {
                    if let Some(ty) = field.ty {
                        self.parts(ty, offset + field.bit_offset / 8, found);
                    }
                }
            }
            _ => {}
        }
    }

    fn number(&mut self, max_objects: u64) {
        let n_kinds = self.kinds.len() as u64;
        // Twice as many as may be made: pointers that nobody follows are told apart by numbers, too.
        let wanted = 2 * max_objects + 4 + self.landmarks.len() as u64;
        self.slot_bits = if n_kinds * wanted < 256 { 8 } else { 12 };
        let per_kind = (((1u64 << self.slot_bits) - 1) / n_kinds) as u16;
        for (idx, kind) in self.kinds.iter_mut().enumerate() {
            let first = 1 + idx as u16 * per_kind;
            kind.slots = first..first + per_kind;
        }
    }

    /// Where a pointer to a kind may point: to one of its own, to one inside of another, or to where that other one would have to
    /// lie around an object that was made for one of its parts.
    fn find_reach(&self, kind: KindId) -> Vec<Reach> {
        let own = self.get(kind);
        let element = |nth: u64| ((nth * own.size) as i64, own.slots.clone());
        let mut reached: Vec<(i64, Range<u16>)> = (0..self.n_elements).map(element).collect();
        if kind == UNKNOWN {
            for other in self.ids().filter(|other| *other != kind) {
                let reach = self.find_reach(other).into_iter();
                reached.extend(
                    reach.flat_map(|Reach { delta, slots }| slots.into_iter().map(move |slots| (delta, slots))),
                );
            }
        }
        for other in self.ids() {
            let whole = self.get(other);
            let is_whole = other == kind;
            let here: Vec<u64> = whole.places.iter().filter(|(_, part)| *part == kind).map(|(at, _)| *at).collect();
            for at in here.iter().copied().chain(is_whole.then_some(0)) {
                if !is_whole {
                    reached.push((at as i64, whole.slots.clone()));
                }
                for (beside, part) in &whole.places {
                    reached.push((at as i64 - *beside as i64, self.get(*part).slots.clone()));
                }
            }
        }
        reached.sort_by_key(|(delta, slots)| (*delta, slots.start));
        reached.dedup();
        let mut reaches: Vec<Reach> = Vec::new();
        for (delta, slots) in reached {
            match reaches.last_mut() {
                Some(last) if last.delta == delta => last.slots.push(slots),
                _ => reaches.push(Reach { delta, slots: vec![slots] }),
            }
        }
        reaches
    }
}
