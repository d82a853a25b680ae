"""Letters of scripts other than plain Latin, for random words; frequent letters are repeated."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Script:
    """sample: letters that a font of the script has; letters: what its words are made of."""

    sample: str
    letters: str


SCRIPTS = {
    "accented": Script("äéøçñš", "aaeeiioouubcdfghklmnprstvzäéøçñöüßàèêåšžčłíóú"),
    "cyrillic": Script("бжыфя", "оооааееиинтсрвлкмдпуяыьгзбчйхжшюцщэф"),
    "greek": Script("βλωςξ", "ααοοιιεεττσσννηηυυρρππκκμμλλωωγδθχφβξζψ"),
    "armenian": Script("աբգդե", "աաանենիրուտկսմվյշլգհբդզթժխծձղճչպջքօֆ"),
    "georgian": Script("აბგდე", "აააიიეედნრსმოლვთუბგკხშცძწჭჯყჩფქჟპტზღ"),
    "kana": Script(
        "あのカン",
        "のにはをたがでてとしれいうおかきくこなまもやよらりるんアイウエオカキクシスタテトナニマラリルレロン",
    ),
    "han": Script(
        "的一是中",
        "的一是不了人我在有他中大来上国个到说们子地出道也时年得那下生自着去家学里小么心多天好然日起成事只作看文"
        "无开手十用主行方又如前所本见",
    ),
    "hangul": Script(
        "가나다라",
        "가나다라마바사아자차카타파하이그는을에의로고지기도한인리시스부대정상전주일수보어여원선구조제동해서",
    ),
}
