# Plants in the dates that are parallel text. Run by tests/planted_bugs.sh, which brings `plant`,
# `tests` and $S.

D=$S/recipes/dates
DATES="tests tests/recipes/test_dates.py"

plant "dates: the weekday of tomorrow" $D/written.py 's/names.weekdays\[day.weekday\(\)\]/names.weekdays[(day.weekday() + 1) % 7]/' $DATES
plant "dates: Chinese always says the weekday" $D/written.py 's/chinese_form\(weekday=form.has_weekday\)/chinese_form(weekday=True)/' $DATES
plant "dates: a short weekday is none" $D/written.py 's/"\{weekday" in self.template/"{weekday}" in self.template/' $DATES
plant "dates: every month has its American name" $D/written.py 's/names = names_in\(form.locale\)/names = names_in("en_US" if form.locale == "en_GB" else form.locale)/' $DATES
plant "dates: numbers alone pass for a date" $D/written.py 's/if "\{month_number\}" not in template/if template/' $DATES
plant "dates: years of two digits" $D/written.py 's/^    "y": "year",/    "y": "year", "yy": "year",/; s/if "\{month_number\}" not in template/if template/' $DATES
plant "dates: narrow spaces stay" $D/written.py 's/return with_plain_spaces\(said\)/return said/' $DATES
plant "dates: unbreakable spaces stay in names" $D/written.py 's/tuple\(with_plain_spaces\(name\) for/tuple(name for/' $DATES
plant "dates: years below 1000 pass" $D/written.py 's/if day.year < FIRST_YEAR:/if False:/' $DATES
plant "dates: 11st" $D/spelled.py 's/if number \/\/ 10 % 10 == 1:/if False:/' $DATES
plant "dates: nineteen five" $D/spelled.py "s/f'oh \{ONES\[rest\]\}'/ONES[rest]/" $DATES
plant "dates: twentyth" $D/spelled.py 's/if last.endswith\("y"\):/if False:/' $DATES
plant "dates: an American and" $D/written.py 's/cardinal\(day.year, joined=""\)/cardinal(day.year)/' $DATES
plant "dates: every month trains" $D/corpus.py 's/if is_held_out\(year, month\) == held_out/if not held_out or is_held_out(year, month)/' $DATES
plant "dates: whole years are held out" $D/corpus.py 's/\{year\}-\{month:02\}/{year}/' $DATES
plant "dates: the last day of a month is never drawn" $D/corpus.py 's/\[1\] \+ 1\)/[1])/' $DATES
plant "dates: valid and test are the same" $D/corpus.py 's/kept\[valid:\]/kept[:test]/' $DATES
plant "dates: every seed is one" $D/corpus.py 's/numpy_generator\(seed,/numpy_generator(1,/' $DATES
plant "dates: a judged source returns" $D/corpus.py 's/kept = _distinct\(.*/kept = list(pairs(valid + test, seed=seed, held_out=True, years=years))/' $DATES
plant "dates: lines end as on Windows" $D/corpus.py 's/newline="\\n"/newline="\\r\\n"/' $DATES
plant "dates: more is drawn anew" $D/corpus.py 's/return islice\(_stream\(seed,/return islice(_stream(seed + count,/' $DATES
plant "dates: fewer than none" $D/corpus.py 's/    if count < 0:/    if False:/' $DATES
