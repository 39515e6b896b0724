//! How a value of an LLVM type is spread over registers: one scalar after the other, aggregates and vectors flattened.

use std::rc::Rc;

use ir::FloatKind;
use rustc_hash::FxHashMap;

use crate::llvm::{Layout, Type, TypeKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Int,
    Pointer,
    Float(FloatKind),
    /// Sixteen bits with the exponent of a single: no arithmetic, but it can be moved and widened.
    BFloat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub bits: u8,
    pub kind: ScalarKind,
    /// In bytes from the start of the value in memory.
    pub offset: u64,
}

impl Scalar {
    pub fn float(self) -> Option<FloatKind> {
        match self.kind {
            ScalarKind::Float(kind) => Some(kind),
            ScalarKind::Int | ScalarKind::Pointer | ScalarKind::BFloat => None,
        }
    }
}

pub(crate) type Shape = Rc<[Scalar]>;

/// Clang never moves larger aggregates through registers; a file that does gets a gap there.
const MAX_SCALARS: usize = 4096;

/// Wider integers than this have no registers. Beyond 128 bits they are limbs (see `wide`).
const MAX_INT_BITS: u32 = 4096;

pub(crate) struct Shapes {
    layout: Layout,
    cache: FxHashMap<Type, Result<Shape, String>>,
}

impl Shapes {
    pub fn new(layout: Layout) -> Shapes {
        Shapes { layout, cache: FxHashMap::default() }
    }

    pub fn pointer_bits(&self) -> u8 {
        self.layout.pointer_bytes() * 8
    }

    pub fn of(&mut self, ty: Type) -> Result<Shape, String> {
        if let Some(shape) = self.cache.get(&ty) {
            return shape.clone();
        }
        let mut scalars = Vec::new();
        let shape = self.flatten(ty, 0, &mut scalars).map(|()| scalars.into());
        self.cache.insert(ty, shape.clone());
        shape
    }

    fn flatten(&self, ty: Type, offset: u64, scalars: &mut Vec<Scalar>) -> Result<(), String> {
        let mut push = |bits: u8, kind| {
            scalars.push(Scalar { bits, kind, offset });
            if scalars.len() > MAX_SCALARS { Err(format!("a value of type `{}`", ty.print())) } else { Ok(()) }
        };
        match ty.kind() {
            TypeKind::LLVMVoidTypeKind => Ok(()),
            TypeKind::LLVMIntegerTypeKind if ty.int_width() <= 128 => push(ty.int_width() as u8, ScalarKind::Int),
            TypeKind::LLVMIntegerTypeKind if ty.int_width() <= MAX_INT_BITS => {
                let bits = ty.int_width();
                for limb in 0..bits.div_ceil(64) {
                    let limb_bits = (bits - limb * 64).min(64) as u8;
                    let offset = offset + u64::from(limb) * 8;
                    scalars.push(Scalar { bits: limb_bits, kind: ScalarKind::Int, offset });
                }
                Ok(())
            }
            TypeKind::LLVMIntegerTypeKind => Err(format!("integers of {} bits", ty.int_width())),
            TypeKind::LLVMPointerTypeKind => push(self.pointer_bits(), ScalarKind::Pointer),
            TypeKind::LLVMHalfTypeKind => push(16, ScalarKind::Float(FloatKind::Half)),
            TypeKind::LLVMBFloatTypeKind => push(16, ScalarKind::BFloat),
            TypeKind::LLVMFloatTypeKind => push(32, ScalarKind::Float(FloatKind::Single)),
            TypeKind::LLVMDoubleTypeKind => push(64, ScalarKind::Float(FloatKind::Double)),
            TypeKind::LLVMX86_FP80TypeKind => push(80, ScalarKind::Float(FloatKind::Extended)),
            TypeKind::LLVMFP128TypeKind => push(128, ScalarKind::Float(FloatKind::Quad)),
            TypeKind::LLVMX86_MMXTypeKind => push(64, ScalarKind::Int),
            TypeKind::LLVMStructTypeKind => (0..ty.n_fields()).try_for_each(|field| {
                self.flatten(ty.field(field), offset + self.layout.field_offset(ty, field), scalars)
            }),
            TypeKind::LLVMArrayTypeKind => self.flatten_elements(ty.element(), ty.array_len(), offset, scalars),
            TypeKind::LLVMVectorTypeKind => self.flatten_elements(ty.element(), ty.vector_len(), offset, scalars),
            _ => Err(format!("values of type `{}`", ty.print())),
        }
    }

    fn flatten_elements(
        &self,
        element: Type,
        n_elements: u64,
        offset: u64,
        scalars: &mut Vec<Scalar>,
    ) -> Result<(), String> {
        let stride = self.layout.alloc_size(element);
        (0..n_elements).try_for_each(|i| self.flatten(element, offset + i * stride, scalars))
    }

    /// As `of`, for a value that is read from or written to memory: vectors of single bits are packed there, which the
    /// offsets of a shape cannot say.
    pub fn in_memory(&mut self, ty: Type) -> Result<Shape, String> {
        let shape = self.of(ty)?;
        let is_packed = ty.kind() == TypeKind::LLVMVectorTypeKind && shape.iter().any(|scalar| scalar.bits % 8 != 0);
        if is_packed { Err(format!("memory of type `{}`", ty.print())) } else { Ok(shape) }
    }
}
