import Testing

@testable import BucketServer

/// Operators as the language reference has them: types, precedence, short circuit, errors.
struct RulesOperatorTests {
    static let arithmetic: [ConditionRow] = [
        ConditionRow("1 + 2 * 3 == 7", .allowed),
        ConditionRow("(1 + 2) * 3 == 9", .allowed),
        ConditionRow("7 / 2 == 3", .allowed),
        ConditionRow("-7 / 2 == -3", .allowed),
        ConditionRow("7 % 3 == 1", .allowed),
        ConditionRow("7 - 2 - 1 == 4", .allowed),
        ConditionRow("8 / 4 / 2 == 1", .allowed),
        ConditionRow("7.0 / 2 == 3.5", .allowed),
        ConditionRow("1 + 0.5 == 1.5", .allowed),
        ConditionRow("-(3) == 0 - 3", .allowed),
        ConditionRow("--3 == 3", .allowed),
        ConditionRow("1 / 0 == 1", .fails("division by zero")),
        ConditionRow("1 % 0 == 1", .fails("division by zero")),
        ConditionRow("9223372036854775807 + 1 > 0", .fails("overflows")),
        ConditionRow("-9223372036854775808 < 0", .allowed),
        ConditionRow("-9223372036854775808 / -1 > 0", .fails("overflows")),
        ConditionRow("'a' + 1 == 'a1'", .fails("cannot compute string + int")),
        ConditionRow("'a' - 'a' == ''", .fails("cannot compute string - string")),
        ConditionRow("-'a' == 'a'", .fails("cannot negate string")),
        ConditionRow("5 * 1024 * 1024 == 5242880", .allowed),
        ConditionRow("1e3 == 1000 && 1.5e-1 == 0.15 && .5 == 0.5", .allowed),
    ]

    static let comparison: [ConditionRow] = [
        ConditionRow("1 == 1.0", .allowed),
        ConditionRow("1 < 1.5 && 1.5 <= 2", .allowed),
        ConditionRow("2 >= 2 && 3 > 2", .allowed),
        ConditionRow("'abc' < 'abd' && 'Z' < 'a'", .allowed),
        ConditionRow("'a' < 'ä' && 'a' <= 'a' && 'b' >= 'a'", .allowed),
        ConditionRow("'1' == 1", .denied),
        ConditionRow("'1' != 1", .allowed),
        ConditionRow("null == null && 'x' != null", .allowed),
        ConditionRow("true == true && true != false", .allowed),
        ConditionRow("'a' < 1", .fails("cannot compare string and int by <")),
        ConditionRow("null < 1", .fails("cannot compare null and int by <")),
        ConditionRow("true > false", .fails("cannot compare bool and bool by >")),
        ConditionRow("[1, 2] == [1, 2] && [1, 2] != [2, 1]", .allowed),
        ConditionRow("[1, 'a', [2.0]] == [1.0, 'a', [2]]", .allowed),
        ConditionRow("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", .allowed),
        ConditionRow("{'a': 1} == {'a': 2}", .denied),
        // Composed and decomposed letters are different bytes, so they are different names.
        ConditionRow("'\\u00e9' == 'e\\u0301'", .denied),
        ConditionRow("'a' in ['a', 'b'] && !('c' in ['a', 'b'])", .allowed),
        ConditionRow("1.0 in [1, 2]", .allowed),
        ConditionRow("'a' in {'a': null} && !('b' in {'a': null})", .allowed),
        ConditionRow("'a' in ['a'].toSet()", .allowed),
        ConditionRow("'a' in 'abc'", .fails("cannot look for string in string")),
        ConditionRow("'a' in null", .fails("cannot look for string in null")),
        ConditionRow("1 in {'a': 1}", .fails("cannot look for int in map")),
    ]

    static let logic: [ConditionRow] = [
        ConditionRow("true && true", .allowed),
        ConditionRow("true && false", .denied),
        ConditionRow("false || true", .allowed),
        ConditionRow("!false", .allowed),
        ConditionRow("!!true", .allowed),
        // An error that the other side makes irrelevant is absorbed, on either side.
        ConditionRow("true || 1 / 0 == 1", .allowed),
        ConditionRow("1 / 0 == 1 || true", .allowed),
        ConditionRow("1 / 0 == 1 || false", .fails("division by zero")),
        ConditionRow("false || 1 / 0 == 1", .fails("division by zero")),
        ConditionRow("false && 1 / 0 == 1", .denied),
        ConditionRow("1 / 0 == 1 && false", .denied),
        ConditionRow("1 / 0 == 1 && true", .fails("division by zero")),
        ConditionRow("true && 1 / 0 == 1", .fails("division by zero")),
        ConditionRow("!(1 / 0 == 1)", .fails("division by zero")),
        ConditionRow("1 && true", .fails("expected a bool, found int")),
        ConditionRow("null || true", .allowed),
        ConditionRow("'true'", .fails("expected a bool, found string")),
        ConditionRow("null", .fails("expected a bool, found null")),
        ConditionRow("!1", .fails("expected a bool, found int")),
        ConditionRow("true ? true : 1 / 0 == 1", .allowed),
        ConditionRow("false ? 1 / 0 == 1 : true", .allowed),
        ConditionRow("(true ? 'a' : 'b') == 'a'", .allowed),
        ConditionRow("false ? false : false ? false : true", .allowed),
        ConditionRow("1 ? true : true", .fails("expected a bool, found int")),
    ]

    /// Tighter first: `a[i] a.f a()`, `! -`, `* / %`, `+ -`, `< <= > >=`, `in is`, `== !=`, `&&`, `||`, `?:`.
    static let precedence: [ConditionRow] = [
        ConditionRow("true || false && false", .allowed),
        ConditionRow("(true || false) && false", .denied),
        ConditionRow("1 + 1 == 2 && 2 * 2 == 4", .allowed),
        ConditionRow("1 < 2 == true", .allowed),
        ConditionRow("true == 1 < 2", .allowed),
        ConditionRow("1 in [1] == true", .allowed),
        ConditionRow("1 is int == true", .allowed),
        ConditionRow("!false == true", .allowed),
        ConditionRow("-1 + 2 == 1", .allowed),
        ConditionRow("2 + 3 in [5]", .allowed),
        ConditionRow("-[1, 2][1] == -2", .allowed),
        ConditionRow("!'abc'.matches('b')", .allowed),
        ConditionRow("false || true ? true : false", .allowed),
        ConditionRow("1 + 1 is int", .allowed),
        ConditionRow("10 - 2 * 3 % 4 == 8", .allowed),
        ConditionRow("true != false && 'a' != 'b'", .allowed),
    ]

    static let types: [ConditionRow] = [
        ConditionRow("null is null && true is bool && 1 is int && 1.0 is float", .allowed),
        ConditionRow("1 is number && 1.5 is number && !('1' is number)", .allowed),
        ConditionRow("'a' is string && b'a' is bytes && [1] is list && {'a': 1} is map", .allowed),
        ConditionRow("[1].toSet() is set && {'a': 1}.diff({}) is map_diff", .allowed),
        ConditionRow("request.time is timestamp && duration.value(1, 's') is duration", .allowed),
        ConditionRow("request.path is path && /a/b is path && latlng.value(1, 2) is latlng", .allowed),
        ConditionRow("1 is float", .denied),
        ConditionRow("null is string", .denied),
        ConditionRow("resource.size is int && resource.name is string && resource.metadata is map", .allowed),
        ConditionRow("resource.timeCreated is timestamp && resource.generation is int", .allowed),
    ]

    static let parts: [ConditionRow] = [
        ConditionRow("[10, 20, 30][1] == 20", .allowed),
        ConditionRow("[10, 20, 30][3] == 20", .fails("the index 3 is not below 3")),
        ConditionRow("[10, 20, 30][-1] == 30", .fails("the index -1 is not below 3")),
        ConditionRow("[10, 20, 30][0:2] == [10, 20]", .allowed),
        ConditionRow("[10, 20][1:1] == []", .allowed),
        ConditionRow("[10, 20][1:3] == []", .fails("the range [1:3]")),
        ConditionRow("[10]['a'] == 10", .fails("cannot take element string of list")),
        ConditionRow("{'a': {'b': 7}}.a.b == 7 && {'a': 7}['a'] == 7", .allowed),
        ConditionRow("{'a': 7}.b == 7", .fails("the map has no key 'b'")),
        ConditionRow("{'a': 7}['b'] == 7", .fails("the map has no key 'b'")),
        ConditionRow("{1: 2} == {}", .fails("a key of a map must be a string")),
        ConditionRow("'alice'[0] == 'a' && 'alice'[0:3] == 'ali'", .allowed),
        ConditionRow("'año'[1] == 'ñ' && 'año'[2:3] == 'o'", .allowed),
        ConditionRow("'abc'[1:9] == 'bc'", .fails("the range [1:9]")),
        ConditionRow("'abc'[3] == ''", .fails("the range [3:4]")),
        ConditionRow("null.a == 1", .fails("null has no field 'a'")),
        ConditionRow("1.5.a == 1", .fails("float has no field 'a'")),
        ConditionRow("nobody == null", .fails("there is no variable nobody")),
        ConditionRow("nothing() == null", .fails("there is no function nothing()")),
    ]

    static let all = arithmetic + comparison + logic + precedence + types + parts

    @Test(arguments: all) func operatorsDoAsDocumented(_ row: ConditionRow) throws { try row.check() }
}
