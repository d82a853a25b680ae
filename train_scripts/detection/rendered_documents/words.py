"""Random words, names, prices and dates."""

from rendered_documents.scripts import SCRIPTS


def listed(text):
    """The texts that stand between bars, or between spaces if there is no bar."""
    return [part.strip() for part in (text.split("|") if "|" in text else text.split())]


_ONSETS = listed("b c d f g h j k l m n p r s t v w z br ch cl dr fl gr kh kr ng pl pr sh sl st th tr")
_VOWELS = listed("a a a e e i i o o u u ai au ea ee ia ie oo ou")
_CODAS = ["", "", "", "", *listed("n n n r r s t l m k d p g h ng nd st rt")]
_SHOPS = listed(
    "MARKET STORE TRADING MART SHOP CAFE RESTAURANT BAKERY PHARMACY HARDWARE BOOKS STATIONERY FURNITURE KITCHEN "
    "ELECTRIC SERVICES SUPPLIES FASHION OPTICS GARDEN TOYS MOTORS PETROL GROCER FOODS HOTEL BISTRO PHOTO SPORTS"
)
_FORMS = listed("SDN BHD|SDN. BHD.|LTD|LTD.|INC|LLC|ENTERPRISE|GMBH|S.A.|CO.|(M) SDN BHD|PLC")
_GOODS = listed(
    "BREAD MILK RICE WATER SUGAR TEA COFFEE CHICKEN BEEF FISH SOUP NOODLE SAUCE JUICE APPLE ORANGE BANANA CAKE EGG "
    "PAPER PEN GLUE TAPE BOX BAG CABLE BULB BATTERY SCREW NAIL PAINT BRUSH HOOK LOCK CUP PLATE BOWL SPOON SOAP TOWEL "
    "SHIRT SOCKS BELT CHEESE BUTTER OIL SALT PEPPER ONION GARLIC TOMATO POTATO PRAWN SET LARGE SMALL HOT ICED FRIED MIX"
)
_UNITS = listed("500G 1KG 250ML 1.5L 2L 10PCS 6S XL A4 12'S 330ML 3MM 40W 5M 75G *S")
_STREETS = listed("JALAN LORONG STREET ROAD AVENUE LANE TAMAN PERSIARAN SQUARE PARK DRIVE PLAZA")
_MONTHS = listed("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
CURRENCIES = ["RM", "RM", "RM", "$", "EUR", "USD", "SGD", ""]


def pick(rng, options):
    """One of them."""
    return options[int(rng.integers(len(options)))]


def syllables(rng, n):
    """A lower-case word of n syllables."""
    return "".join(pick(rng, _ONSETS) + pick(rng, _VOWELS) + pick(rng, _CODAS) for _ in range(n))


def word(rng):
    """A lower-case word, 1 to 4 syllables."""
    return syllables(rng, int(rng.choice([1, 2, 2, 2, 3, 3, 4])))


def digits(rng, n):
    """n digits."""
    return "".join(str(d) for d in rng.integers(0, 10, n))


def price(rng, top=100.0):
    """A price below about `top`, without a currency."""
    value = float(rng.uniform(0, 1)) ** 2 * top
    value = round(value * 20) / 20 if rng.random() < 0.7 else value
    return f"{value:,.2f}"


def date(rng):
    """A day in one of many forms."""
    day, month, year = int(rng.integers(1, 29)), int(rng.integers(1, 13)), int(rng.integers(2009, 2027))
    return pick(
        rng,
        [
            f"{day:02}/{month:02}/{year}",
            f"{day:02}-{month:02}-{year % 100:02}",
            f"{day:02}.{month:02}.{year}",
            f"{year}-{month:02}-{day:02}",
            f"{day:02} {_MONTHS[month - 1]} {year}",
            f"{day}/{month}/{year}",
        ],
    )


def clock(rng):
    """A time of day."""
    hour, minute, second = int(rng.integers(0, 24)), int(rng.integers(0, 60)), int(rng.integers(0, 60))
    half = "AM" if hour < 12 else "PM"
    return pick(
        rng,
        [
            f"{hour:02}:{minute:02}",
            f"{hour:02}:{minute:02}:{second:02}",
            f"{hour % 12 or 12}:{minute:02} {half}",
            f"{hour % 12 or 12:02}:{minute:02}:{second:02} {half}",
        ],
    )


def phone(rng):
    """A telephone number."""
    a, b, c = digits(rng, 2), digits(rng, 4), digits(rng, 4)
    return pick(rng, [f"0{a[0]}-{b}{c}", f"0{a}-{b} {c}", f"+6{a}-{b}{c}", f"({a}) {b}-{c}", f"0{a} {b[:3]} {c}"])


def code(rng):
    """A number of a bill, a customer, a till: letters and digits."""
    letters = "".join(pick(rng, "ABCDEFGHIJKLMNOPRSTVWX") for _ in range(int(rng.integers(0, 4))))
    number = digits(rng, int(rng.integers(3, 9)))
    return pick(rng, [letters + number, f"{letters}{number[:3]}-{number[3:] or '1'}", f"{letters}/{number}", number])


def name(rng):
    """A person's name in capitals."""
    return " ".join(syllables(rng, int(rng.integers(1, 3))).upper() for _ in range(int(rng.integers(1, 4))))


def company(rng):
    """A shop's name, without its legal form."""
    names = " ".join(word(rng).upper() for _ in range(int(rng.integers(1, 3))))
    return pick(rng, [f"{names} {pick(rng, _SHOPS)}", f"{pick(rng, _SHOPS)} {names}", f"{names} & {word(rng).upper()}"])


def legal_form(rng):
    return pick(rng, _FORMS)


def product(rng):
    """What was sold."""
    parts = [pick(rng, _GOODS) if rng.random() < 0.6 else word(rng).upper() for _ in range(int(rng.integers(1, 5)))]
    if rng.random() < 0.4:
        parts.append(pick(rng, _UNITS))
    if rng.random() < 0.1:
        parts.insert(0, digits(rng, int(rng.integers(3, 7))))
    text = " ".join(parts)
    return f"{text} ({pick(rng, 'SMLRHC')})" if rng.random() < 0.08 else text


def address(rng):
    """Lines of an address."""
    street = f"{pick(rng, _STREETS)} {word(rng).upper()} {int(rng.integers(1, 60))}"
    first = pick(rng, [f"NO. {int(rng.integers(1, 300))}, {street},", f"LOT {code(rng)}, {street},", f"{street},"])
    lines = [first]
    if rng.random() < 0.7:
        lines.append(f"{pick(rng, _STREETS)} {word(rng).upper()} {word(rng).upper()},")
    lines.append(f"{digits(rng, 5)} {word(rng).upper()} {word(rng).upper()}{pick(rng, ['', '.', ','])}")
    if rng.random() < 0.5:
        lines.append(f"{word(rng).upper()}{pick(rng, ['', '.', f' {word(rng).upper()}'])}")
    return lines


def sentence(rng, n):
    """n words, the first with a capital, a full stop at the end."""
    words = [word(rng) for _ in range(n)]
    words[0] = words[0].capitalize()
    return " ".join(words) + "."


def site(rng):
    """A web or mail address."""
    host = f"{word(rng)}{pick(rng, ['.com', '.com.my', '.net', '.org', '.de', '.co.uk'])}"
    return pick(rng, [f"www.{host}", f"http://{host}", f"{word(rng)}@{host}"])


def phrase(rng, n, script="latin"):
    """n words of a script, of syllables for Latin and of random letters for others; some with punctuation, numbers."""
    words = []
    for _ in range(n):
        if rng.random() < 0.05:
            words.append(digits(rng, int(rng.integers(1, 5))))
        elif script == "latin":
            words.append(word(rng))
        else:
            letters = SCRIPTS[script].letters
            words.append("".join(letters[k] for k in rng.integers(0, len(letters), int(rng.integers(1, 9)))))
        if rng.random() < 0.1:
            words[-1] += pick(rng, [",", ".", ";", ":", "!", "?"])
    return " ".join(words)
