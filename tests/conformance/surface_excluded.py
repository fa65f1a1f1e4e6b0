"""Public functions of NumPy without numeric meaning, each with its reason in a word: `EXCLUDED`.

They are no part of the table of functions (`surface_table`). What a traced function may do with
them is written in `trace/world.py` and tested in `tests/api`.
"""

from __future__ import annotations

_REASONS: dict[str, str] = {
    "files": "fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed",
    "text": """array2string array_repr array_str base_repr binary_repr format_float_positional
        format_float_scientific fromstring typename""",
    "settings": """errstate get_printoptions getbufsize geterr geterrcall printoptions
        set_printoptions setbufsize seterr seterrcall""",
    "about NumPy": "get_include info show_config show_runtime test __array_namespace_info__",
    "dates": """busday_count busday_offset datetime_as_string datetime_data is_busday isnat
        busdaycalendar datetime64 timedelta64""",
    "subclass": "asmatrix bmat matrix memmap recarray record",
    "object": "frompyfunc nditer nested_iters ndenumerate ndindex poly1d flatiter broadcast ufunc",
    "memory": "frombuffer from_dlpack may_share_memory shares_memory require isfortran",
    "Python": "fromiter iterable isscalar einsum_path",
    "dtype": """isdtype issubdtype mintypecode promote_types finfo iinfo dtype min_scalar_type
        common_type character flexible generic number integer signedinteger unsignedinteger inexact
        floating complexfloating bool bool_ bytes_ str_ void object_ byte ubyte short ushort intc
        uintc int_ uint long ulong longlong ulonglong half single double longdouble csingle cdouble
        clongdouble int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp float16 float32
        float64 float128 complex64 complex128 complex256 ndarray float96 complex192""",
    "error": "LinAlgError",
}
_METHODS: dict[str, str] = {
    "files": "dump dumps tofile",
    "memory": """base ctypes data device flags getfield setfield setflags strides to_device view
        flat""",
    "text": "tobytes",
    "dtype": "dtype",
}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: reason for reason, names in table.items() for name in names.split()}


EXCLUDED = _by_name(_REASONS)
EXCLUDED_METHODS = _by_name(_METHODS)
