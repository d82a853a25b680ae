"""The faults that the doctor knows by name."""

import enum


class Severity(enum.Enum):
    """How bad a fault is: an error spoils training or scores, a warning likely does, a note is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_E, _W, _N = Severity


class Fault(enum.Enum):
    """A kind of fault: its name in JSON, its severity, what it is, and what `--fix` does about it (None: nothing)."""

    # photos
    PHOTO_MISSING = ("photo-missing", _E, "annotations of a photo that is not there", "left out")
    PHOTO_EMPTY = ("photo-empty", _E, "a photo's file of 0 bytes", "photo and annotations left out")
    PHOTO_UNREADABLE = ("photo-unreadable", _E, "no photo of a known kind", "photo and annotations left out")
    PHOTO_TRUNCATED = ("photo-truncated", _E, "a photo that breaks off or is corrupt", "photo and annotations left out")
    PHOTO_WRONG_ENDING = ("photo-wrong-ending", _W, "a photo of another kind than its name says", None)
    PHOTO_BLANK = ("photo-blank", _W, "a photo of one colour only", None)
    SIZE_WRONG = ("size-wrong", _E, "the annotations state another size than the photo has", "size from the photo")
    SIZE_SWAPPED = ("size-swapped", _E, "the annotations state width for height", "size from the photo")
    SIZE_MISSING = ("size-missing", _W, "the annotations do not state the photo's size", "size from the photo")
    EXIF_ROTATION = (
        "exif-rotation",
        _E,
        "a photo that its EXIF block turns, with annotations for it as it is stored",
        "the EXIF block of the copy says upright (JPEG)",
    )
    EXIF_TURNED = ("exif-turned", _N, "a photo that its EXIF block turns; tools that ignore it see another", None)
    # which files there are
    PHOTO_AMBIGUOUS = ("photo-ambiguous", _W, "two photos for one file of annotations", "the first is kept")
    ANNOTATION_MISSING = ("annotation-missing", _W, "a photo without annotations", "left out; in YOLO: kept")
    ANNOTATION_UNREADABLE = ("annotation-unreadable", _E, "an annotation file that cannot be read", "left out")
    LISTED_MISSING = ("listed-missing", _E, "a list names a photo that is not there", "left out of the list")
    LISTED_TWICE = ("listed-twice", _W, "a list names a photo twice", "named once")
    NOT_LISTED = ("not-listed", _N, "a photo that is in no list, though there are lists", None)
    IN_TWO_SPLITS = ("in-two-splits", _E, "the same photo to learn from and to be scored on", "left out of train")
    NAME_CASE = ("name-case", _W, "file names that differ by case alone", "the copy's names are told apart")
    NAME_ENCODING = ("name-encoding", _W, "a file name that is not clean UTF-8", "the copy has a plain name")
    NAME_UNSAFE = ("name-unsafe", _E, "a file name or a link that leads out of the data set", "left out")
    TEXT_ENCODING = ("text-encoding", _W, "an annotation file that is not UTF-8", "written as UTF-8")
    FILE_NAME_DIFFERS = ("file-name-differs", _W, "an annotation names another photo than it lies beside", "corrected")
    # classes
    CLASS_UNKNOWN = ("class-unknown", _E, "an object of a class that is not in the list", "object left out")
    CLASS_MISSING = ("class-missing", _E, "an object without a class", "object left out")
    CLASS_NAME_MISSING = ("class-name-missing", _W, "a class without a name", "named after its number")
    CLASS_GAP = ("class-gap", _W, "numbers of classes with holes between them", None)
    CLASS_UNUSED = ("class-unused", _N, "a class without a single object", None)
    CLASS_NAMES_ALIKE = ("class-names-alike", _W, "names of classes that differ by case or blanks", "the most used one")
    CLASS_DUPLICATE = ("class-duplicate", _E, "two classes of one number or name", "the first is kept")
    # records
    FIELD_MISSING = ("field-missing", _E, "a record lacks what it must have", "left out")
    FIELD_MALFORMED = ("field-malformed", _E, "a field holds what it must not", "left out")
    IMAGE_ID_DUPLICATE = ("image-id-duplicate", _E, "two photos of one id", "the first is kept")
    IMAGE_ID_UNKNOWN = ("image-id-unknown", _E, "an annotation of a photo that the file does not know", "left out")
    FILE_NAME_DUPLICATE = ("file-name-duplicate", _E, "two records of one photo", "joined")
    ANNOTATION_ID_DUPLICATE = ("annotation-id-duplicate", _E, "two annotations of one id", "a new id")
    ANNOTATION_ID_ZERO = ("annotation-id-zero", _W, "an id of 0, with which pycocotools scores wrongly", "a new id")
    # boxes
    BOX_MISSING = ("box-missing", _E, "an object without a box", "object left out")
    BOX_NOT_FINITE = ("box-not-finite", _E, "NaN or infinity in a box", "object left out")
    BOX_NEGATIVE = ("box-negative", _E, "a box whose end lies before its start", "corners put in order")
    BOX_EMPTY = ("box-empty", _W, "a box without area, which training leaves out", "object left out")
    BOX_SLIVER = ("box-sliver", _W, "a box of less than a pixel across", None)
    BOX_OUTSIDE = ("box-outside", _W, "a box that sticks out of the photo", "cut at the edge")
    BOX_BEYOND = ("box-beyond", _E, "a box that lies outside of the photo altogether", "object left out")
    BOX_DUPLICATE = ("box-duplicate", _W, "the same box with the same class twice", "the first is kept")
    BOX_CONFLICT = ("box-conflict", _W, "the same box with two classes", None)
    # coordinates that are meant in another way
    XY_SWAPPED = ("xy-swapped", _E, "x and y are swapped", "swapped back")
    NORMALIZED = ("normalized", _E, "fractions where pixels belong", "times the photo's size")
    NOT_NORMALIZED = ("not-normalized", _E, "pixels where fractions belong", "read as pixels")
    ONE_BASED = ("one-based", _W, "coordinates that count from 1 where 0 belongs", "1 taken off")
    ZERO_BASED = ("zero-based", _W, "coordinates that count from 0 where 1 belongs", "read as counted from 0")
    CORNERS_FOR_SIZES = ("corners-for-sizes", _E, "two corners where corner, width and height belong", "read so")
    # masks, points, text
    MASK_MALFORMED = ("mask-malformed", _E, "a mask that cannot be drawn", "mask left out, box kept")
    MASK_OFF_BOX = ("mask-off-box", _W, "a mask that does not lie in its box", None)
    AREA_WRONG = ("area-wrong", _W, "an area that cannot be", "from the box")
    CROWD_MALFORMED = ("crowd-malformed", _E, "iscrowd is neither 0 nor 1", "0")
    POINTS_MALFORMED = ("points-malformed", _E, "key points of a wrong number or kind", "points left out")
    POINT_OUTSIDE = ("point-outside", _W, "a marked key point outside of the photo", None)
    QUAD_CROSSED = ("quad-crossed", _W, "corners that do not go round clockwise", None)
    TEXT_EMPTY = ("text-empty", _W, "a region of text without text", None)
    TEXT_UPRIGHT = ("text-upright", _W, "a region far too high for its text", None)
    # contents
    NO_OBJECTS = ("no-objects", _N, "a photo in which nothing is marked", None)
    PHOTO_DUPLICATE = ("photo-duplicate", _W, "the same photo twice, bit for bit", None)
    PHOTO_DUPLICATE_SPLIT = (
        "photo-duplicate-split",
        _E,
        "the same photo, bit for bit, to learn from and to be scored on",
        "left out of train",
    )
    PHOTO_NEAR_DUPLICATE = ("photo-near-duplicate", _N, "two photos that look the same", None)
    PHOTO_NEAR_DUPLICATE_SPLIT = (
        "photo-near-duplicate-split",
        _W,
        "photos that look the same, to learn from and to be scored on",
        None,
    )
    NO_PHOTOS = ("no-photos", _E, "there is nothing in the data set", None)

    def __init__(self, slug: str, severity: Severity, meaning: str, fix: str | None):
        self.slug = slug
        self.severity = severity
        self.meaning = meaning
        self.fix = fix
