package dev.bourse.simulation.hostile;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Values just inside and just outside a schema's limits, and values that break parsers. */
final class Values {
  /** Longer than any body may be. */
  private static final int ENDLESS = 70_000;

  /** Nearly as long as a body may be. */
  private static final int LONG = 60_000;

  /** Numbers that break JSON parsers. */
  private static final List<String> NUMBERS =
      List.of(
          "0",
          "-0",
          "-1",
          "1",
          "0.5",
          "1.0",
          "-0.0",
          "1e0",
          "1.5e1",
          "2147483647",
          "2147483648",
          "-2147483648",
          "-2147483649",
          "9007199254740991",
          "9007199254740992",
          "9007199254740993",
          "-9007199254740993",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775808",
          "-9223372036854775809",
          "18446744073709551616",
          "1e309",
          "-1e309",
          "1e-400",
          "1e64",
          "1e65",
          "0.1e65",
          "1e-64",
          "0.001",
          "0.005",
          "2.005",
          "9.999999999999999999",
          "00",
          "01",
          "+1",
          ".5",
          "5.",
          "0x10",
          "1e",
          "1e+",
          "NaN",
          "Infinity",
          "-Infinity",
          "1_000",
          "1,5",
          "\"1\"",
          "\"0\"",
          "true",
          "null",
          "[]",
          "{}",
          "9".repeat(400),
          "0." + "3".repeat(400),
          "1e" + "9".repeat(30));

  /** Texts that break programs, as JSON. */
  private static final List<String> TEXTS =
      List.of(
          "\"\"",
          "\" \"",
          "\"\\u0000\"",
          "\"a\\u0000b\"",
          "\"\\u001f\"",
          "\"\\u007f\"",
          "\"\\u0085\"",
          "\"\\u2028\"",
          "\"\\n\"",
          "\"a\\r\\nX-Evil: 1\"",
          "\"\\ud800\"",
          "\"\\udc00\"",
          "\"\\ud800\\ud800\"",
          "\"\\udc00\\ud800\"",
          "\"\\uD83D\\uDE00\"",
          "\"\\ufffe\"",
          "\"\\uffff\"",
          "\"\\ufeff\"",
          "\"\u202e\u0301\u0301\"",
          "\"\\u20\"",
          "\"\\x41\"",
          "\"\\\"",
          "\"tab\there\"",
          "\"nul\u0000byte\"",
          "\"unclosed",
          "'single'",
          "\"..\"",
          "\"../../etc/passwd\"",
          "\"%00\"",
          "\"%\"",
          "\"a%2fb\"",
          "\"' OR 1=1 --\"",
          "\"<script>alert(1)</script>\"",
          "\"${jndi:ldap://a}\"",
          "\"{{7*7}}\"",
          "\"\u212a\"",
          "\"\u0130\"",
          "\"\u00df\"",
          "\"I\u0307\"",
          "\"=1+1\"",
          "\"-\"",
          "\"null\"",
          "\"\uff11\uff12\"",
          "\"" + Tree.raw(0xff) + "\"",
          "\"" + Tree.raw(0xc0) + Tree.raw(0xaf) + "\"",
          "\"" + Tree.raw(0xed) + Tree.raw(0xa0) + Tree.raw(0x80) + "\"",
          "\"" + Tree.raw(0xf4) + Tree.raw(0x90) + Tree.raw(0x80) + Tree.raw(0x80) + "\"",
          "\"" + Tree.raw(0xc3) + "\"",
          "0",
          "1.5",
          "true",
          "null",
          "[]",
          "{}",
          "[\"a\"]");

  /** Texts that nearly match the format of a field. */
  private static final List<String> NEARLY =
      List.of(
          "9999-12-31T23:59:59Z",
          "9999-12-31T23:59:60Z",
          "0000-01-01T00:00:00Z",
          "-0001-01-01T00:00:00Z",
          "+1000000-01-01T00:00:00Z",
          "2026-02-30T00:00:00Z",
          "2026-11-21T24:00:00Z",
          "2026-11-21T13:00:00+18:01",
          "2026-11-21T13:00:00-18:00",
          "2026-11-21T13:00:00.123456789Z",
          "2026-11-21 13:00:00Z",
          "2026-11-21T13:00:00",
          "1969-12-31T23:59:59.999Z",
          "-999999999-01-01T00:00:00Z",
          "+999999999-12-31T23:59:59Z",
          "2026-13",
          "2026-00",
          "0000-01",
          "9999-12",
          "+10000-01",
          "2026-1",
          "12026-01",
          "a@",
          "@b.example",
          "a@b",
          "a@@b.example",
          "a b@c.example",
          "a@b.example,c@d.example",
          "\"q q\"@b.example",
          "a@[127.0.0.1]",
          "a@b.example\r\nBcc: c@d.example",
          "\u00fc@b.example",
          "a@b\u00fccher.example",
          "A@B.EXAMPLE",
          "a+b@c.example",
          ".a@b.example",
          "a@-b.example",
          "x".repeat(64) + "@b.example",
          "x".repeat(65) + "@b.example",
          "a@" + "b.".repeat(120) + "c",
          "javascript:alert(1)",
          "//evil.example",
          "/\\evil.example",
          "/a\r\nb",
          "https://[::1",
          "https://[::1]/",
          "https:///",
          "https://a:99999/",
          "https://u:p@a.example/",
          "http://169.254.169.254/",
          "http://127.0.0.1:1/",
          "https://xn--/",
          "https://a.example/#f",
          "data:text/html,x",
          "file:///etc/passwd",
          "urn:x",
          "com.example:/cb",
          "https://a b/",
          "https://a.example/%",
          "https://\u00e4.example/",
          "http://localhost/cb",
          "0",
          "1.2.3",
          "1.2.3.4.5",
          "256.1.1.1",
          "01.2.3.4",
          "0x7f.1",
          "::",
          "::1",
          "::ffff:1.2.3.4",
          "fe80::1%eth0",
          "1:2:3:4:5:6:7:8:9",
          "127.0.0.1",
          "0.0.0.0",
          "\uff11.2.3.4",
          "ssh-ed25519",
          "ssh-ed25519 ",
          "ssh-ed25519 AAAA",
          "ssh-ed25519 !!!! a",
          "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA==",
          "ssh-ed25519 /////w==",
          "ssh-rsa AAAAB3NzaC1yc2E=",
          "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAA== x",
          "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3\nssh-rsa A",
          "command=\"x\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3",
          "text/html; charset=\"",
          "text/plain;a=b;a=b",
          "a/b; c=d ; e=f",
          "text/plain\r\nX: y",
          "CON",
          "nul.txt",
          ".",
          "..",
          ".env",
          "id_rsa",
          "a\"b",
          "a;b",
          "\u202egpj.exe",
          "brs_a_b",
          "self",
          "_platform",
          "public",
          "openapi.json",
          "undefined",
          "-1",
          "1e3",
          "0x1",
          " 1",
          "1 ",
          "+1",
          "1.0",
          "9223372036854775808",
          "2147483648",
          "\u0661",
          "true",
          "[1]",
          "{}");

  private Values() {}

  /** Returns JSON values to replace one of this schema. */
  static Set<String> json(JsonObject schema) {
    Set<String> all = new LinkedHashSet<>();
    Set<String> types = types(schema);
    JsonArray either = schema.getJsonArray("oneOf", new JsonArray());
    for (int i = 0; i < either.size(); i++) {
      all.addAll(json(either.getJsonObject(i)));
    }
    if (types.contains("integer") || types.contains("number")) {
      all.addAll(limits(schema));
      all.addAll(NUMBERS);
    }
    if (types.contains("string")) {
      texts(schema).forEach(text -> all.add(Json.encode(text)));
      all.addAll(TEXTS);
      NEARLY.forEach(text -> all.add(Json.encode(text)));
    }
    if (types.contains("array")) {
      all.addAll(arrays(schema));
    }
    if (types.contains("object")) {
      all.addAll(objects(schema));
    }
    // Values of types that it does not allow.
    all.addAll(List.of("null", "true", "0", "\"x\"", "[]", "{}", "[[]]", "{\"\":0}", "", "tru"));
    all.add("[".repeat(30) + "]".repeat(30));
    all.add("[".repeat(5_000) + "]".repeat(5_000));
    all.add("{\"a\":".repeat(2_000) + "0" + "}".repeat(2_000));
    return all;
  }

  private static Set<String> types(JsonObject schema) {
    Object type = schema.getValue("type");
    Set<String> all = new LinkedHashSet<>();
    if (type instanceof JsonArray several) {
      several.forEach(one -> all.add(String.valueOf(one)));
    } else if (type != null) {
      all.add(String.valueOf(type));
    }
    return all;
  }

  /** Returns numbers around the limits of a schema. */
  private static List<String> limits(JsonObject schema) {
    List<String> all = new ArrayList<>();
    for (String bound : List.of("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")) {
      if (schema.getValue(bound) instanceof Number number) {
        java.math.BigDecimal at = new java.math.BigDecimal(number.toString());
        for (String step : List.of("-1", "-0.01", "-0.0001", "0", "0.0001", "0.01", "1")) {
          all.add(at.add(new java.math.BigDecimal(step)).toPlainString());
        }
      }
    }
    return all;
  }

  /**
   * Returns texts around the limits of a schema, in letters and in characters of several units or
   * bytes.
   */
  static List<String> texts(JsonObject schema) {
    List<String> all = new ArrayList<>();
    for (String bound : List.of("minLength", "maxLength")) {
      int limit = schema.getInteger(bound, -1);
      for (int length = Math.max(0, limit - 1); limit >= 0 && length <= limit + 1; length++) {
        for (String unit : List.of("a", "1", "-", "\u00e9", "\uD83D\uDE00", "\u0301", " ")) {
          all.add(unit.repeat(length));
        }
      }
    }
    JsonArray choices = schema.getJsonArray("enum", new JsonArray());
    for (int i = 0; i < choices.size(); i++) {
      String choice = String.valueOf(choices.getValue(i));
      all.add(choice);
      all.add(choice.toUpperCase(Locale.ROOT));
      all.add(choice + " ");
      all.add(choice + ',' + choice);
      all.add(choice.substring(0, choice.length() - 1));
    }
    all.add("a".repeat(LONG));
    all.add("\u0301".repeat(LONG / 2));
    all.add("a".repeat(ENDLESS));
    all.add("(".repeat(5_000));
    all.add("a ".repeat(5_000));
    all.add("a;b=c;".repeat(5_000));
    return all;
  }

  private static List<String> arrays(JsonObject schema) {
    JsonObject item = schema.getJsonObject("items", new JsonObject());
    List<String> all = new ArrayList<>();
    String one = sound(item);
    int most = schema.getInteger("maxItems", 100);
    int least = schema.getInteger("minItems", 0);
    for (int count :
        List.of(Math.max(0, least - 1), least, 1, 2, most - 1, most, most + 1, 10_000)) {
      all.add(list(one, count));
    }
    all.add("[" + one + ",]");
    all.add("[," + one + "]");
    all.add("[" + one + " " + one + "]");
    all.add(list("0", LONG / 2));
    for (String wrong : List.of("null", "0", "\"\"", "[]", "{}", "\"\\ud800\"", "1e309")) {
      all.add("[" + wrong + "]");
      all.add("[" + one + "," + wrong + "]");
    }
    return all;
  }

  private static String list(String item, int count) {
    StringBuilder out = new StringBuilder("[");
    for (int i = 0; i < count; i++) {
      out.append(i > 0 ? "," : "").append(item);
    }
    return out.append(']').toString();
  }

  private static List<String> objects(JsonObject schema) {
    List<String> all = new ArrayList<>();
    JsonObject more =
        schema.getValue("additionalProperties") instanceof JsonObject any
            ? any
            : new JsonObject().put("type", "string");
    String one = sound(more);
    int most = schema.getInteger("maxProperties", 64);
    for (int count : List.of(0, 1, most - 1, most, most + 1, 4_000)) {
      StringBuilder out = new StringBuilder("{");
      for (int i = 0; i < count; i++) {
        out.append(i > 0 ? "," : "").append("\"k").append(i).append("\":").append(one);
      }
      all.add(out.append('}').toString());
    }
    for (String name :
        List.of(
            "\"\"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"__proto__\"",
            "\"a b\"",
            "\"" + "n".repeat(64) + "\"",
            "\"" + "n".repeat(65) + "\"",
            "\"1\"",
            "a")) {
      all.add("{" + name + ":" + one + "}");
    }
    if (schema.getValue("additionalProperties") instanceof JsonObject any) {
      json(any).stream().filter(v -> v.length() < 5_000).forEach(v -> all.add("{\"A\":" + v + "}"));
    }
    all.add("{\"A\":" + one + ",\"A\":" + one + "}");
    return all;
  }

  /** Returns a valid JSON text of the schema's type. */
  private static String sound(JsonObject schema) {
    JsonArray choices = schema.getJsonArray("enum");
    if (choices != null) {
      return Json.encode(choices.getValue(0));
    }
    Set<String> types = types(schema);
    return types.contains("string") || types.isEmpty() ? "\"a\"" : "1";
  }

  /** Returns values of a parameter or a field of a form, in their form on the wire. */
  static Set<String> encoded(JsonObject schema) {
    Set<String> all = new LinkedHashSet<>();
    texts(schema).stream().filter(t -> t.length() < 5_000).forEach(t -> all.add(Draft.encoded(t)));
    limits(schema).forEach(n -> all.add(Draft.encoded(n)));
    NEARLY.forEach(text -> all.add(Draft.encoded(text)));
    NUMBERS.stream().filter(n -> n.length() < 500).forEach(n -> all.add(Draft.encoded(n)));
    all.addAll(
        List.of(
            "",
            "%",
            "%0",
            "%zz",
            "%00",
            "a%00b",
            "%0a",
            "%0d%0aX:1",
            "%2F",
            "%2f..%2f",
            "%5c",
            "%c0%af",
            "%ff",
            "%c3",
            "%ed%a0%80",
            "%f4%90%80%80",
            "%e2%80%ae",
            "%25",
            "%2500",
            "..",
            "%2e%2e",
            ".",
            "%2e",
            "+",
            "a+b",
            "%u0041",
            "&#65;",
            "a;b",
            "a,b",
            "a=b",
            "=",
            "*",
            "~",
            "'",
            "\"",
            "<>",
            "{id}",
            "`",
            "|",
            "\\",
            "^",
            "[]",
            "a[]",
            "\u00e9",
            Tree.raw(0xff),
            Tree.raw(0x80),
            "%F0%9F%98%80",
            "x".repeat(3_000),
            "%41".repeat(1_000),
            "eyJhbGciOiJub25lIn0",
            "AAAA",
            "MDAw",
            "-",
            "_",
            "0".repeat(64),
            "~".repeat(64)));
    return all;
  }
}
