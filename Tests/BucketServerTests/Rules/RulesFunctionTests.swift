import Testing

@testable import BucketServer

/// Methods and global functions, with the reference's own results where it gives any.
struct RulesFunctionTests {
    static let strings: [ConditionRow] = [
        ConditionRow("'ABC123'.lower() == 'abc123' && 'abc'.upper() == 'ABC'", .allowed),
        ConditionRow("'  needs a trim  '.trim() == 'needs a trim'", .allowed),
        ConditionRow("''.size() == 0 && 'monkey'.size() == 6 && 'año'.size() == 3", .allowed),
        ConditionRow("'user@domain.com'.matches('.*@domain[.]com')", .allowed),
        ConditionRow("'banana'.matches('.*@domain[.]com')", .denied),
        // The whole string must match.
        ConditionRow("'image/png'.matches('image')", .denied),
        ConditionRow("'image/png'.matches('image/.*')", .allowed),
        ConditionRow("'cat.png'.matches('.*\\\\.(png|jpe?g)')", .allowed),
        ConditionRow("'cat.png'.matches('.*\\.png') && !'catxpng'.matches('.*\\.png')", .allowed),
        ConditionRow("'IMAGE/PNG'.matches('(?i)image/.*')", .allowed),
        ConditionRow("'a'.matches('(')", .fails("bad pattern: missing ')'")),
        ConditionRow("'a'.matches(1)", .fails("matches() expects a string, not int")),
        ConditionRow("1.matches('a')", .fails("int has no method matches()")),
        ConditionRow("null.matches('a')", .fails("null has no method matches()")),
        ConditionRow("'a'.matches()", .fails("matches() takes 1 argument, not 0")),
        ConditionRow("'a'.shout()", .fails("string has no method shout()")),
        ConditionRow("'banana'.replace('a', 'o') == 'bonono'", .allowed),
        ConditionRow("'banana'.replace('ana', 'ee') == 'beena'", .allowed),
        ConditionRow("'foo@test.com'.replace('.', '-') == '------------'", .allowed),
        ConditionRow("'abc'.replace('x*', '-') == '-a-b-c-'", .allowed),
        ConditionRow("'foo'.replace('x', 'y') == 'foo'", .allowed),
        ConditionRow("'a/b/c'.split('/') == ['a', 'b', 'c']", .allowed),
        ConditionRow("'foo23bar4bar'.split('[0-9]') == ['foo', '', 'bar', 'bar']", .allowed),
        ConditionRow("'foo'.split('/') == ['foo'] && 'abc'.split('') == ['a', 'b', 'c']", .allowed),
        ConditionRow("'a.b'.split('[.]')[1] == 'b'", .allowed),
        ConditionRow("'ñ'.toUtf8() == b'\\xc3\\xb1' && 'abc'.toUtf8().size() == 3", .allowed),
        ConditionRow("b'\\xff\\x00'.toHexString() == 'FF00' && b'hi'.toBase64() == 'aGk='", .allowed),
        ConditionRow("'it\\'s' == \"it's\" && 'a\\tb' == 'a\\x09b' && '\\101' == 'A'", .allowed),
    ]

    static let conversions: [ConditionRow] = [
        ConditionRow("string(true) == 'true' && string(1) == '1'", .allowed),
        ConditionRow("string(2.0) == '2.0' && string(null) == 'null'", .allowed),
        ConditionRow("int('2') == 2 && int(2.0) == 2 && int(-2.7) == -2", .allowed),
        ConditionRow("int('two') == 2", .fails("int() finds no int")),
        ConditionRow("int(1e300) == 2", .fails("int() finds no int")),
        ConditionRow("float('2.5') == 2.5 && float(2) is float", .allowed),
        ConditionRow("bool('true') && !bool('false')", .allowed),
        ConditionRow("bool('yes')", .fails("bool() does not take string")),
        ConditionRow("string([1]) == '1'", .fails("string() does not take list")),
        ConditionRow("int() == 1", .fails("int() takes 1 argument, not 0")),
        ConditionRow("debug(1 + 1) == 2", .allowed),
    ]

    static let collections: [ConditionRow] = [
        ConditionRow("['a', 'b'].hasAll(['a']) && !['a', 'b'].hasAll(['a', 'c'])", .allowed),
        ConditionRow("['a', 'b'].hasAny(['c', 'a']) && !['a'].hasAny(['c'])", .allowed),
        ConditionRow("['a', 'b'].hasOnly(['a', 'b', 'c']) && !['a', 'b'].hasOnly(['a', 'c'])", .allowed),
        ConditionRow("['a', 'a', 'b'].hasOnly(['a', 'b', 'b'])", .allowed),
        ConditionRow("['a', 'b'].join('-') == 'a-b' && [].join(',') == '' && [1, true].join('') == '1true'", .allowed),
        ConditionRow("['a'].concat(['b']) == ['a', 'b'] && ['a', 'b', 'a'].removeAll(['a']) == ['b']", .allowed),
        ConditionRow("[1, 2].size() == 2 && [1, 1.0, 2].toSet().size() == 2", .allowed),
        ConditionRow("['a'].concat('b') == []", .fails("concat() expects a list, not string")),
        ConditionRow("['a'].push('b') == []", .fails("list has no method push()")),
        ConditionRow("['a', 'b'].toSet().difference(['a', 'c'].toSet()) == ['b'].toSet()", .allowed),
        ConditionRow("['a', 'b'].toSet().intersection(['a', 'c'].toSet()) == ['a'].toSet()", .allowed),
        ConditionRow("['a', 'b'].toSet().union(['a', 'c'].toSet()) == ['c', 'b', 'a'].toSet()", .allowed),
        ConditionRow("['d', 'e', 'f'].toSet().hasAll(['d', 'e']) && !['a'].toSet().hasAny(['c'].toSet())", .allowed),
        ConditionRow("['a', 'b'].toSet().hasOnly(['a', 'b']) && !['a', 'b'].toSet().hasOnly(['a'])", .allowed),
        ConditionRow("['a'].toSet().union(['b']) == null", .fails("union() expects a set, not list")),
        ConditionRow("['a'].toSet()[0] == 'a'", .fails("cannot take element int of set")),
        ConditionRow("{'a': 1, 'b': 2}.keys().hasAll(['b', 'a']) && {'a': 1}.values() == [1]", .allowed),
        ConditionRow("{'a': 1, 'b': 2}.size() == 2 && {}.size() == 0", .allowed),
        ConditionRow("{'a': 3, 'b': 2}.get('c', 7) == 7 && {'a': 3}.get('a', 7) == 3", .allowed),
        ConditionRow("{'a': {'b': 1}, 'c': 2}.get(['a', 'b'], 7) == 1", .allowed),
        ConditionRow("{'a': {'b': 1}}.get(['a', 'x'], 7) == 7 && {'a': 1}.get(['a', 'b'], 7) == 7", .allowed),
        ConditionRow("{'a': 1}.get('a') == 1", .fails("get() takes 2 arguments, not 1")),
        ConditionRow("{'a': 1, 'b': 2}.diff({'a': 1, 'c': 2}).addedKeys() == ['b'].toSet()", .allowed),
        ConditionRow("{'a': 1, 'b': 2}.diff({'a': 1, 'c': 2}).removedKeys() == ['c'].toSet()", .allowed),
        ConditionRow("{'a': 1, 'b': 2}.diff({'a': 5, 'b': 2}).changedKeys() == ['a'].toSet()", .allowed),
        ConditionRow("{'a': 1, 'b': 2}.diff({'a': 5, 'b': 2}).unchangedKeys() == ['b'].toSet()", .allowed),
        ConditionRow("{'a': 1, 'b': 2}.diff({'a': 5, 'c': 2}).affectedKeys().hasOnly(['a', 'b', 'c'])", .allowed),
        ConditionRow("{'a': 1}.diff({}).movedKeys()", .fails("map_diff has no method movedKeys()")),
    ]

    static let times: [ConditionRow] = [
        ConditionRow("request.time.year() == 2024 && request.time.month() == 3 && request.time.day() == 5", .allowed),
        ConditionRow("request.time.hours() == 6 && request.time.minutes() == 7", .allowed),
        ConditionRow("request.time.seconds() == 8 && request.time.nanos() == 9010000", .allowed),
        ConditionRow("request.time.dayOfWeek() == 2 && request.time.dayOfYear() == 65", .allowed),
        ConditionRow("request.time.toMillis() == 1709618828009", .allowed),
        ConditionRow("request.time.date() == timestamp.date(2024, 3, 5)", .allowed),
        ConditionRow("request.time.time() == duration.time(6, 7, 8, 9010000)", .allowed),
        ConditionRow("timestamp.date(1984, 1, 2) < request.time && request.time > resource.timeCreated", .allowed),
        ConditionRow(
            "timestamp.value(0) == timestamp.date(1970, 1, 1) && timestamp.value(-1).toMillis() == -1", .allowed),
        ConditionRow("timestamp.date(1969, 12, 31).dayOfWeek() == 3 && timestamp.value(-1).year() == 1969", .allowed),
        ConditionRow(
            "timestamp.date(2024, 2, 29).dayOfYear() == 60 && timestamp.date(9999, 12, 31).month() == 12", .allowed),
        ConditionRow("timestamp.date(2023, 2, 29) == null", .fails("names no time")),
        ConditionRow("timestamp.date(2024, 1, 31) + duration.value(1, 'd') == timestamp.date(2024, 2, 1)", .allowed),
        ConditionRow("request.time - resource.timeCreated == duration.value(1, 'h')", .allowed),
        ConditionRow("request.time < resource.timeCreated + duration.value(60, 'm')", .denied),
        ConditionRow(
            "duration.value(1, 'w') == duration.value(7, 'd') && duration.value(1, 'm').seconds() == 60", .allowed),
        ConditionRow(
            "duration.value(1500, 'ms').nanos() == 500000000 && duration.value(5, 'ns').nanos() == 5", .allowed),
        ConditionRow("duration.abs(duration.value(-10, 's')) == duration.value(10, 's')", .allowed),
        ConditionRow("duration.value(1, 'h') - duration.value(1, 'm') == duration.value(59, 'm')", .allowed),
        ConditionRow("duration.value(1, 'y') == null", .fails("needs a unit of")),
        ConditionRow("request.time + 1 == null", .fails("cannot compute timestamp + int")),
        ConditionRow("request.time.century() == 21", .fails("timestamp has no method century()")),
    ]

    static let namespaces: [ConditionRow] = [
        ConditionRow("math.abs(-1) == 1 && math.abs(-1.5) == 1.5", .allowed),
        ConditionRow("math.ceil(2.1) == 3 && math.floor(2.7) == 2 && math.ceil(-0.5) == 0", .allowed),
        ConditionRow("math.round(2.4) == 2 && math.round(2.5) == 3 && math.round(-2.5) == -3", .allowed),
        ConditionRow("math.sqrt(2.25) == 1.5 && math.pow(2, 2) == 4 && math.pow(1.5, 2) == 2.25", .allowed),
        ConditionRow("math.isInfinite(1.0 / 0) && math.isNaN(0.0 / 0) && !math.isNaN(100)", .allowed),
        ConditionRow("math.cube(2) == 8", .fails("there is no function math.cube()")),
        ConditionRow("math.abs('1') == 1", .fails("math.abs() expects a number, not string")),
        ConditionRow("hashing.md5('').toHexString() == 'D41D8CD98F00B204E9800998ECF8427E'", .allowed),
        ConditionRow("hashing.crc32('123456789').toHexString() == 'CBF43926'", .allowed),
        ConditionRow("hashing.crc32c('123456789').toHexString() == 'E3069283'", .allowed),
        ConditionRow("hashing.sha256(b'abc').toBase64() == 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='", .allowed),
        ConditionRow("hashing.sha1('a') == null", .fails("there is no function hashing.sha1()")),
        ConditionRow(
            "latlng.value(10.0, -20).latitude() == 10 && latlng.value(10.0, -20).longitude() == -20", .allowed),
        ConditionRow("math.round(latlng.value(0, 0).distance(latlng.value(0, 1)) / 1000) == 111", .allowed),
        ConditionRow("latlng.value(91, 0) == null", .fails("needs a latitude")),
        ConditionRow("firestore.get(/databases/(default)/documents/a/$(request.auth.uid)).data.x", .fails("Firestore")),
        ConditionRow("firestore.exists(/databases/(default)/documents/a/b)", .fails("Firestore")),
    ]

    static let paths: [ConditionRow] = [
        ConditionRow("request.path == /b/demo/o/users/alice/cat.png", .allowed),
        ConditionRow("request.path == /b/demo/o/users/$(request.auth.uid)/cat.png", .allowed),
        ConditionRow("request.path == path('b/demo/o/users/alice/cat.png')", .allowed),
        ConditionRow("path('/a/b') == /a/b && /a/b != /a/c", .allowed),
        ConditionRow("request.path[3] == 'users' && name[1] == 'alice'", .allowed),
        ConditionRow("request.path[6] == 'x'", .fails("the index 6 is not below 6")),
        ConditionRow("(/path/$(foo)/$(bar)).bind({'foo': 'some', 'bar': 'other'}) == /path/some/other", .allowed),
        ConditionRow("(/path/$(foo)).bind({'foo': 'some'}).foo == 'some'", .allowed),
        ConditionRow("(/path/$(foo))[1] == 'some'", .fails("is not bound")),
        ConditionRow("/a/$(1) == /a/b", .fails("expected a string in the path, found int")),
    ]

    static let all = strings + conversions + collections + times + namespaces + paths

    @Test(arguments: all) func functionsDoAsDocumented(_ row: ConditionRow) throws { try row.check() }

    @Test func debugTellsItsValueAndWhereItStands() throws {
        let rules = "service firebase.storage { match /{a=**} { allow read: if debug(request.auth.uid) == 'x'; } }"
        let (verdict, lines) = try RulesParser.parse(rules, file: "storage.rules").consider(.ofAlice())
        #expect(lines == ["storage.rules:1:59: string_value: \"alice\""])
        #expect(verdict != .allow)
    }
}
