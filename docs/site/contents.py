"""What the site contains, in the order of its navigation."""

GUIDES = [
    ("First steps", ["from_jax", "loops", "trees", "ops", "arrays_in_and_out", "lazy"]),
    ("Derivatives and batches", ["gradients", "solvers", "batching"]),
    ("Running", ["performance", "debugging", "errors", "accuracy", "native_code", "targets", "versions"]),
    ("Other systems", ["interop", "command", "formats", "c_source", "pjrt", "scale", "conformance"]),
]
INTERNALS = ["design", "executor", "decisions", "adding_an_op", "adding_a_pass"]

# (section, [(page, title, headers)]): each public header is on one page.
REFERENCE = [
    ("Tensors", [
        ("tensor", "Tensors", ["tensor"]),
        ("types", "Types and shapes", ["type", "dtype", "shape"]),
        ("literal", "Literals", ["literal"]),
        ("errors", "Errors", ["error", "interrupted"]),
    ]),
    ("Loops and transforms", [
        ("loops", "Loops and branches", ["loops", "loop_options", "checkpoint"]),
        ("transforms", "trace, jit, compile", ["transforms", "jit_options", "compile_options", "cache", "function"]),
        ("native", "native", ["native"]),
        ("gradients", "Derivatives", ["gradients"]),
        ("vmap", "vmap", ["vmap", "vmap_options"]),
        ("solvers", "Solvers", ["solvers/minimize", "solvers/roots", "solvers/linear", "solvers/ode"]),
    ]),
    ("Ops", [
        ("elementwise", "Elementwise", ["ops/elementwise", "ops/special", "ops/numeric"]),
        ("making", "Making and shaping arrays", ["ops/shape", "ops/arrays"]),
        ("indexing", "Indexing and slices", ["ops/slices", "ops/indexing", "ops/segments"]),
        ("reductions", "Reductions and statistics", ["ops/reduce", "ops/statistics"]),
        ("sorting", "Sorting and searching", ["ops/order", "ops/search"]),
        ("linear_algebra", "Linear algebra", ["ops/linear", "ops/einsum", "ops/linear_algebra"]),
        ("random", "Random numbers", ["ops/random"]),
        ("spectra", "Fourier transforms", ["ops/spectra"]),
        ("neural", "Neural networks and windows", ["ops/neural", "ops/windows"]),
        ("observers", "Observers and barriers", ["ops/observe", "ops/barrier", "checks"]),
        ("custom_call", "Functions of your own", ["ops/custom_call"]),
    ]),
    ("Trees", [
        ("trees", "Trees", ["tree", "tree_tools", "tree_arithmetic", "tree_structure", "reflect", "call_with"]),
    ]),
    ("Running", [
        ("running", "Running programs", ["execute", "run_options", "run_scope", "profile"]),
        ("pjrt", "Real XLA and devices", ["pjrt", "device"]),
        ("sharding", "Many devices", ["mesh", "sharded_array", "ops/shard"]),
    ]),
    ("Texts and other libraries", [
        ("text", "Programs as text", ["text", "c_source"]),
        ("csv", "CSV, fmt and std::format", ["csv", "fmt", "format"]),
        ("eigen", "Eigen", ["eigen"]),
        ("arrays", "Arrays of other libraries", ["array_adaptor", "strided_view", "dlpack"]),
    ]),
]
# Headers that declare nothing of their own.
WITHOUT_PAGE = {"rondo", "ops", "solvers", "export", "implementation"}
