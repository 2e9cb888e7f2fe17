package dev.bourse.simulation.hostile;

import dev.bourse.simulation.hostile.Mutation.Kind;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** All mutations of a sample that follow from its contract. */
final class Mutations {
  private final AcceptedRequest sample;
  private final List<Mutation> all = new ArrayList<>();

  private Mutations(AcceptedRequest sample) {
    this.sample = sample;
  }

  /** Returns every single mutation of a sample except {@link #random}, in a fixed order. */
  static List<Mutation> of(AcceptedRequest sample) {
    Mutations mutations = new Mutations(sample);
    AttackedOperation operation = sample.operation();
    if (operation.takesJson()) {
      mutations.ofJson();
    } else if (operation.takesForm()) {
      mutations.ofForm();
    } else if (!operation.mediaType().isEmpty()) {
      mutations.ofBytes();
    } else {
      mutations.ofNoBody();
    }
    mutations.ofParameters();
    mutations.all.addAll(HeaderMutations.of(sample));
    mutations.all.addAll(FramingMutations.of(sample));
    return mutations.all;
  }

  private void add(Kind kind, String name, java.util.function.Consumer<Draft> change) {
    all.add(Mutation.of(kind, name, change));
  }

  private void body(String name, String text) {
    byte[] bytes = Tree.bytes(text);
    add(Kind.BODY, name, draft -> draft.onBody = any -> bytes);
  }

  private void ofJson() {
    List<String> root = new ArrayList<>();
    if (!sample.root().isEmpty()) {
      root.addAll(Arrays.asList(sample.root().substring(1).split("/", -1)));
    }
    ofObject(root, sample.schema());
    if (!root.isEmpty()) {
      // The enclosing JSON has a schema of its own.
      ofObject(List.of(), sample.operation().body());
    }
    for (String text :
        List.of(
            "",
            " ",
            "null",
            "0",
            "\"\"",
            "[]",
            "{",
            "}",
            "{}{}",
            "{},",
            "\uFEFF{}",
            "[{}]",
            "{\"a\"}",
            "{a:1}",
            "//c\n{}",
            "{}\u0000",
            "\u0000",
            "nul",
            Tree.raw(0xff),
            Tree.raw(0xfe) + Tree.raw(0xff) + "\u0000{\u0000}",
            "[".repeat(30_000),
            "{\"a\":".repeat(10_000),
            "[" + "0,".repeat(30_000) + "0]",
            "{" + " ".repeat(60_000) + "}",
            " ".repeat(70_000),
            "\"" + "\\u0041".repeat(10_000) + "\"",
            "{\"a\":\"" + "\\\\".repeat(30_000) + "\"}")) {
      body("body " + text, text);
    }
    String whole = sample.json().encode();
    body("spaces around the body", "\r\n\t " + whole + "\r\n\t ");
    body("the body twice", whole + whole);
    body("the body in an array", "[" + whole + "]");
    body("the body as text", Json.encode(whole));
    body("the body in UTF-16", utf16(whole));
    body("a body of names", names(4_000));
    body("a body of names that share a hash", collisions());
  }

  private static String utf16(String text) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      out.append('\u0000').append(text.charAt(i));
    }
    return out.toString();
  }

  private static String names(int count) {
    StringBuilder out = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      out.append(i > 0 ? "," : "").append("\"n").append(i).append("\":0");
    }
    return out.append('}').toString();
  }

  /** Returns names with the same hash code, as String computes it: "Aa" and "BB" collide. */
  private static String collisions() {
    StringBuilder out = new StringBuilder("{");
    for (int i = 0; i < 2_048; i++) {
      out.append(i > 0 ? "," : "").append('"');
      for (int bit = 0; bit < 11; bit++) {
        out.append(((i >> bit) & 1) == 0 ? "Aa" : "BB");
      }
      out.append("\":0");
    }
    return out.append('}').toString();
  }

  private void ofObject(List<String> at, JsonObject schema) {
    String where = String.join(".", at);
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    for (String name : properties.fieldNames()) {
      List<String> path = new ArrayList<>(at);
      path.add(name);
      JsonObject property = properties.getJsonObject(name);
      add(Kind.BODY, where + " lacks " + name, draft -> draft.json.remove(path));
      for (String value : Values.json(property)) {
        add(Kind.BODY, where + '.' + name + " = " + value, draft -> draft.json.set(path, value));
      }
      add(
          Kind.BODY,
          where + " has " + name + " twice",
          draft -> draft.json.add(at, Json.encode(name), "0"));
      String escaped =
          "\"\\u" + String.format("%04x", (int) name.charAt(0)) + name.substring(1) + '"';
      add(
          Kind.BODY,
          where + " has " + name + " twice, once with an escape",
          draft -> draft.json.add(at, escaped, "0"));
      if (property.containsKey("properties")) {
        ofObject(path, property);
      }
    }
    for (String name :
        List.of(
            "\"x\"",
            "\"\"",
            "\"__proto__\"",
            "\"constructor\"",
            "\"$ref\"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"" + "n".repeat(60_000) + "\"",
            "\"a\r\nb\"",
            "x")) {
      add(Kind.BODY, where + " has " + name, draft -> draft.json.add(at, name, "0"));
    }
  }

  private void ofForm() {
    JsonObject properties = sample.schema().getJsonObject("properties", new JsonObject());
    for (String name : properties.fieldNames()) {
      add(
          Kind.BODY,
          "the form lacks " + name,
          draft -> draft.form.removeIf(part -> part.startsWith(name + '=')));
      for (String value : Values.encoded(properties.getJsonObject(name))) {
        add(Kind.BODY, name + " = " + value, draft -> draft.field(name, value));
      }
      add(Kind.BODY, name + " twice", draft -> draft.form.add(name + "=x"));
      add(Kind.BODY, name + " bare", draft -> draft.form.add(name));
    }
    for (String text :
        List.of(
            "",
            "&",
            "=",
            "&&&&",
            "=&=",
            "x=1",
            "%",
            "%=%",
            "a=%00",
            "a=%ff",
            "{}",
            "a;b=c",
            "=x",
            Tree.raw(0xff) + "=" + Tree.raw(0xff),
            "a=b&".repeat(3_000),
            "a".repeat(60_000),
            "%41".repeat(10_000),
            "a=".repeat(10_000),
            "&".repeat(60_000),
            " ".repeat(70_000),
            "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nx\r\n--x--\r\n")) {
      body("form " + text, text);
      add(Kind.BODY, "the form and " + text, draft -> draft.form.add(text));
    }
  }

  private void ofBytes() {
    byte[] own = sample.bytes();
    add(Kind.BODY, "no bytes", draft -> draft.onBody = any -> new byte[0]);
    add(Kind.BODY, "one byte more", draft -> draft.onBody = b -> Arrays.copyOf(b, b.length + 1));
    add(
        Kind.BODY,
        "one byte less",
        draft -> draft.onBody = b -> Arrays.copyOf(b, Math.max(0, b.length - 1)));
    add(Kind.BODY, "bytes twice", draft -> draft.onBody = b -> Arrays.copyOf(b, b.length * 2));
    add(Kind.BODY, "a megabyte", draft -> draft.onBody = any -> new byte[1 << 20]);
    add(Kind.BODY, "other bytes", draft -> draft.onBody = any -> new byte[own.length]);
    add(
        Kind.BODY,
        "a secret",
        draft ->
            draft.onBody =
                any ->
                    Arrays.copyOf(
                        Tree.bytes("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA"),
                        own.length));
    for (String range :
        List.of(
            "bytes */*",
            "bytes 0-0/1",
            "bytes 0-0/*",
            "bytes */0",
            "bytes 1-0/2",
            "bytes 0-9/5",
            "bytes 0-" + (own.length - 1) + "/" + own.length,
            "bytes 5-9/" + own.length,
            "bytes",
            "bytes 0-",
            "bytes -1/5",
            "bytes 0-9223372036854775807/9223372036854775807",
            "bytes a-b/c",
            "bytes 0-0/99999999999999999999",
            "octets 0-0/1",
            "bytes 0-0/1, bytes 0-0/1",
            "bytes  0-0/1",
            "bytes 0--1/1",
            "bytes +0-0/1",
            "bytes */" + own.length,
            "bytes */1125899906842625")) {
      add(Kind.BODY, "Content-Range: " + range, draft -> draft.header("Content-Range", range));
    }
  }

  private void ofNoBody() {
    for (String text : List.of("{}", "x", "\u0000", "{\"a\":1}", "x".repeat(70_000))) {
      body("a body that the operation does not take: " + text, text);
    }
  }

  private void ofParameters() {
    for (AttackedOperation.Parameter parameter : sample.operation().parameters()) {
      String name = parameter.name();
      for (String value : Values.encoded(parameter.schema())) {
        add(Kind.PARAMETER, name + " = " + value, draft -> draft.parameter(parameter, value));
      }
      if (!parameter.isInPath()) {
        add(
            Kind.PARAMETER,
            "no " + name,
            draft -> draft.query.removeIf(part -> part.startsWith(name + '=')));
        add(
            Kind.PARAMETER,
            name + " twice",
            draft -> {
              draft.query.add(name + "=1");
              draft.query.add(name + "=1");
            });
        add(Kind.PARAMETER, name + " bare", draft -> draft.query.add(name));
        add(
            Kind.PARAMETER,
            name + " encoded",
            draft ->
                draft.query.add(
                    "%" + Integer.toHexString(name.charAt(0)) + name.substring(1) + "=1"));
      }
    }
    for (String part :
        List.of(
            "x=1",
            "x",
            "=",
            "&",
            "&&&",
            "=1",
            "%",
            "%00=1",
            "a%",
            "?",
            "#f",
            "x=" + "y".repeat(3_500),
            "a&".repeat(1_500) + "a",
            "__proto__=1",
            "a[b]=c",
            "\u00e9=1",
            ";",
            "x=1;y=2",
            "%zz=1",
            Tree.raw(0xff) + "=1",
            "limit=1&limit=2",
            "access_token=x",
            "_method=DELETE")) {
      add(Kind.PARAMETER, "query " + part, draft -> draft.query.add(part));
    }
    for (String end :
        List.of(
            "/",
            "//",
            "/.",
            "/..",
            "/../",
            "%2f",
            ";x",
            "%00",
            "/x",
            ".json",
            "?",
            "#",
            "\\",
            "%20",
            "/%2e%2e/",
            "*",
            "%",
            "/" + "x".repeat(3_500),
            "/" + "a/".repeat(1_500))) {
      add(Kind.PARAMETER, "path and " + end, draft -> draft.onTarget = target -> target + end);
    }
    add(Kind.PARAMETER, "path after //", draft -> draft.onTarget = target -> '/' + target);
    add(
        Kind.PARAMETER,
        "path in capitals",
        draft -> draft.onTarget = target -> target.toUpperCase(Locale.ROOT));
    add(Kind.PARAMETER, "path after ..", draft -> draft.onTarget = target -> "/x/.." + target);
    add(Kind.PARAMETER, "too long a path", draft -> draft.onTarget = t -> t + "x".repeat(9_000));
  }

  /** Returns a random change of the request's bytes. */
  static Mutation random(long seed) {
    int way = new Random(seed).nextInt(7);
    String name =
        List.of("flip", "cut", "splice", "double", "drop", "insert", "many flips").get(way);
    return Mutation.of(
        Kind.BYTES,
        name + " " + seed,
        draft -> {
          draft.isWhole = false;
          draft.onWhole = bytes -> garbled(bytes, way, new Random(seed));
        });
  }

  private static byte[] garbled(byte[] bytes, int way, Random random) {
    int at = random.nextInt(bytes.length);
    int length = 1 + random.nextInt(Math.min(64, bytes.length - at));
    byte[] copy = bytes.clone();
    switch (way) {
      case 0 -> copy[at] = (byte) (copy[at] ^ (1 << random.nextInt(8)));
      case 1 -> copy = Arrays.copyOf(bytes, at);
      case 2 ->
          System.arraycopy(bytes, random.nextInt(bytes.length - length + 1), copy, at, length);
      case 3 -> copy = joined(Arrays.copyOf(bytes, at + length), bytes, at);
      case 4 -> copy = joined(Arrays.copyOf(bytes, at), bytes, at + length);
      case 5 -> {
        byte[] some = new byte[length];
        random.nextBytes(some);
        copy = joined(joined(Arrays.copyOf(bytes, at), some, 0), bytes, at);
      }
      default -> {
        for (int i = 0; i < 1 + bytes.length / 50; i++) {
          copy[random.nextInt(copy.length)] = (byte) random.nextInt(256);
        }
      }
    }
    return copy;
  }

  private static byte[] joined(byte[] head, byte[] tail, int from) {
    byte[] all = Arrays.copyOf(head, head.length + tail.length - from);
    System.arraycopy(tail, from, all, head.length, tail.length - from);
    return all;
  }
}
