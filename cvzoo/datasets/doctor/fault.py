"""The kinds of faults that the data set doctor finds."""

import enum


class Severity(enum.Enum):
    """The severity of a fault: an error impairs training or evaluation, a warning probably does, a note may matter."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_E, _W, _N = Severity


class Fault(enum.Enum):
    """A kind of fault: its name in JSON, its severity, a description, and its fix by `--fix` (None: not fixed).

    Names with `photo` stay, since `--ignore` and the JSON files use them.
    """

    # images
    PHOTO_MISSING = ("photo-missing", _E, "annotations of a missing image", "dropped")
    PHOTO_EMPTY = ("photo-empty", _E, "an image file of 0 bytes", "image and annotations dropped")
    PHOTO_UNREADABLE = ("photo-unreadable", _E, "an unknown image format", "image and annotations dropped")
    PHOTO_TRUNCATED = (
        "photo-truncated",
        _E,
        "an image that is truncated or corrupt",
        "image and annotations dropped",
    )
    PHOTO_WRONG_ENDING = ("photo-wrong-ending", _W, "a file extension that does not match the image format", None)
    PHOTO_BLANK = ("photo-blank", _W, "an image with a single color", None)
    SIZE_WRONG = ("size-wrong", _E, "the annotations state a wrong image size", "size from the image")
    SIZE_SWAPPED = ("size-swapped", _E, "the annotations swap width and height", "size from the image")
    SIZE_MISSING = ("size-missing", _W, "the annotations do not state the image's size", "size from the image")
    EXIF_ROTATION = (
        "exif-rotation",
        _E,
        "annotations that ignore the image's EXIF orientation",
        "EXIF orientation reset in the copy (JPEG)",
    )
    EXIF_TURNED = ("exif-turned", _N, "an image with an EXIF orientation, which some tools ignore", None)
    # files
    PHOTO_AMBIGUOUS = ("photo-ambiguous", _W, "two images for one annotation file", "the first is kept")
    ANNOTATION_MISSING = ("annotation-missing", _W, "an image without annotations", "dropped; in YOLO: kept")
    ANNOTATION_UNREADABLE = ("annotation-unreadable", _E, "an annotation file that cannot be read", "dropped")
    LISTED_MISSING = ("listed-missing", _E, "a missing image in the list of a split", "dropped from the list")
    LISTED_TWICE = ("listed-twice", _W, "an image twice in the list of a split", "listed once")
    NOT_LISTED = ("not-listed", _N, "an image without a split, though there are splits", None)
    IN_TWO_SPLITS = ("in-two-splits", _E, "the same image in the training and an evaluation set", "dropped from train")
    NAME_CASE = ("name-case", _W, "file names that differ in case only", "renamed in the copy")
    NAME_ENCODING = ("name-encoding", _W, "a file name that is not valid UTF-8", "renamed in the copy")
    NAME_UNSAFE = ("name-unsafe", _E, "a file name or a link that leads out of the data set", "dropped")
    TEXT_ENCODING = ("text-encoding", _W, "an annotation file that is not UTF-8", "written as UTF-8")
    FILE_NAME_DIFFERS = ("file-name-differs", _W, "an annotation file that names another image", "corrected")
    # classes
    CLASS_UNKNOWN = ("class-unknown", _E, "an object of an unknown class", "object dropped")
    CLASS_MISSING = ("class-missing", _E, "an object without a class", "object dropped")
    CLASS_NAME_MISSING = ("class-name-missing", _W, "a class without a name", "named after its number")
    CLASS_GAP = ("class-gap", _W, "class numbers with gaps", None)
    CLASS_UNUSED = ("class-unused", _N, "a class without objects", None)
    CLASS_NAMES_ALIKE = (
        "class-names-alike",
        _W,
        "class names that differ in case or whitespace only",
        "the most frequent",
    )
    CLASS_DUPLICATE = ("class-duplicate", _E, "two classes with the same number or name", "the first is kept")
    # records
    FIELD_MISSING = ("field-missing", _E, "a record without a required field", "dropped")
    FIELD_MALFORMED = ("field-malformed", _E, "a malformed field", "dropped")
    IMAGE_ID_DUPLICATE = ("image-id-duplicate", _E, "two images with the same id", "the first is kept")
    IMAGE_ID_UNKNOWN = ("image-id-unknown", _E, "an annotation with an unknown image id", "dropped")
    FILE_NAME_DUPLICATE = ("file-name-duplicate", _E, "two records of the same image", "merged")
    ANNOTATION_ID_DUPLICATE = ("annotation-id-duplicate", _E, "two annotations with the same id", "a new id")
    ANNOTATION_ID_ZERO = ("annotation-id-zero", _W, "an annotation id of 0, which pycocotools mishandles", "a new id")
    # boxes
    BOX_MISSING = ("box-missing", _E, "an object without a box", "object dropped")
    BOX_NOT_FINITE = ("box-not-finite", _E, "NaN or infinity in a box", "object dropped")
    BOX_NEGATIVE = ("box-negative", _E, "a box of negative size", "corners swapped")
    BOX_EMPTY = ("box-empty", _W, "a box of zero area, which training ignores", "object dropped")
    BOX_SLIVER = ("box-sliver", _W, "a box less than a pixel wide or high", None)
    BOX_OUTSIDE = ("box-outside", _W, "a box that exceeds the image", "clipped to the image")
    BOX_BEYOND = ("box-beyond", _E, "a box completely outside of the image", "object dropped")
    BOX_DUPLICATE = ("box-duplicate", _W, "two identical boxes of the same class", "the first is kept")
    BOX_CONFLICT = ("box-conflict", _W, "two identical boxes of different classes", None)
    # coordinates in another format
    XY_SWAPPED = ("xy-swapped", _E, "x and y are swapped", "swapped back")
    NORMALIZED = ("normalized", _E, "fractions instead of pixels", "multiplied by the image size")
    NOT_NORMALIZED = ("not-normalized", _E, "pixels instead of fractions", "read as pixels")
    ONE_BASED = ("one-based", _W, "1-based instead of 0-based coordinates", "1 subtracted")
    ZERO_BASED = ("zero-based", _W, "0-based instead of 1-based coordinates", "read as 0-based")
    CORNERS_FOR_SIZES = ("corners-for-sizes", _E, "two corners instead of corner, width and height", "read as corners")
    # masks, points, text
    MASK_MALFORMED = ("mask-malformed", _E, "a malformed mask", "mask dropped, box kept")
    MASK_OFF_BOX = ("mask-off-box", _W, "a mask that does not match its box", None)
    AREA_WRONG = ("area-wrong", _W, "an impossible area", "from the box")
    CROWD_MALFORMED = ("crowd-malformed", _E, "iscrowd is neither 0 nor 1", "0")
    POINTS_MALFORMED = ("points-malformed", _E, "malformed keypoints", "keypoints dropped")
    POINT_OUTSIDE = ("point-outside", _W, "a labeled keypoint outside of the image", None)
    QUAD_CROSSED = ("quad-crossed", _W, "corners that are not in clockwise order", None)
    TEXT_EMPTY = ("text-empty", _W, "a text region without text", None)
    TEXT_UPRIGHT = ("text-upright", _W, "a region that is too high for its text", None)
    # contents
    NO_OBJECTS = ("no-objects", _N, "an image without objects", None)
    PHOTO_DUPLICATE = ("photo-duplicate", _W, "duplicate images, bit for bit", None)
    PHOTO_DUPLICATE_SPLIT = (
        "photo-duplicate-split",
        _E,
        "duplicate images, bit for bit, in the training and an evaluation set",
        "dropped from train",
    )
    PHOTO_NEAR_DUPLICATE = ("photo-near-duplicate", _N, "near-duplicate images", None)
    PHOTO_NEAR_DUPLICATE_SPLIT = (
        "photo-near-duplicate-split",
        _W,
        "near-duplicate images in the training and an evaluation set",
        None,
    )
    NO_PHOTOS = ("no-photos", _E, "an empty data set", None)

    def __init__(self, slug: str, severity: Severity, meaning: str, fix: str | None):
        self.slug = slug
        self.severity = severity
        self.meaning = meaning
        self.fix = fix
