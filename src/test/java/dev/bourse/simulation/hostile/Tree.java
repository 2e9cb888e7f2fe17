package dev.bourse.simulation.hostile;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * JSON that may be invalid: leaves are text that is sent unchanged, and a name may occur twice.
 *
 * <p>Characters from U+E000 to U+E0FF stand for single bytes, which need not be valid UTF-8.
 */
final class Tree {
  private static final char RAW = '\uE000';

  /** A member with its name as written, quotes included. */
  private record Member(String name, Tree value) {}

  private final String text;
  private final List<Member> members = new ArrayList<>();
  private final List<Tree> items = new ArrayList<>();

  private Tree(String text) {
    this.text = text;
  }

  static Tree of(Object value) {
    if (value instanceof JsonObject object) {
      Tree tree = new Tree("{");
      for (Map.Entry<String, Object> entry : object) {
        tree.members.add(new Member(Json.encode(entry.getKey()), of(entry.getValue())));
      }
      return tree;
    }
    if (value instanceof JsonArray array) {
      Tree tree = new Tree("[");
      array.forEach(item -> tree.items.add(of(item)));
      return tree;
    }
    return new Tree(Json.encode(value));
  }

  /** Returns the character for one byte. */
  static String raw(int b) {
    return String.valueOf((char) (RAW + (b & 0xff)));
  }

  /** Encodes text, with its characters for single bytes. */
  static byte[] bytes(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int from = 0;
    for (int i = 0; i <= text.length(); i++) {
      if (i == text.length() || (text.charAt(i) >= RAW && text.charAt(i) <= RAW + 0xff)) {
        out.writeBytes(text.substring(from, i).getBytes(StandardCharsets.UTF_8));
        if (i < text.length()) {
          out.write(text.charAt(i) - RAW);
        }
        from = i + 1;
      }
    }
    return out.toByteArray();
  }

  /** Replaces the value at a path; adds the last name if it is missing. */
  void set(List<String> path, String raw) {
    Tree parent = find(path.subList(0, path.size() - 1));
    String last = path.get(path.size() - 1);
    if (parent.text.equals("[")) {
      int index = Integer.parseInt(last);
      if (index < parent.items.size()) {
        parent.items.set(index, new Tree(raw));
      } else {
        parent.items.add(new Tree(raw));
      }
      return;
    }
    String name = Json.encode(last);
    for (int i = 0; i < parent.members.size(); i++) {
      if (parent.members.get(i).name().equals(name)) {
        parent.members.set(i, new Member(name, new Tree(raw)));
        return;
      }
    }
    parent.members.add(new Member(name, new Tree(raw)));
  }

  /** Adds a member after all others, even if its name exists. */
  void add(List<String> path, String rawName, String raw) {
    find(path).members.add(new Member(rawName, new Tree(raw)));
  }

  void remove(List<String> path) {
    String name = Json.encode(path.get(path.size() - 1));
    find(path.subList(0, path.size() - 1)).members.removeIf(m -> m.name().equals(name));
  }

  /** Returns the value at a path; an unattached leaf if another mutation has removed it. */
  private Tree find(List<String> path) {
    Tree at = this;
    for (String step : path) {
      Tree next = null;
      if (at.text.equals("[")) {
        int index = Integer.parseInt(step);
        next = index < at.items.size() ? at.items.get(index) : null;
      }
      for (Member member : at.members) {
        if (member.name().equals(Json.encode(step))) {
          next = member.value();
        }
      }
      if (next == null) {
        return new Tree("{");
      }
      at = next;
    }
    return at;
  }

  String write() {
    StringBuilder out = new StringBuilder();
    write(out);
    return out.toString();
  }

  private void write(StringBuilder out) {
    out.append(text);
    if (text.equals("{")) {
      for (int i = 0; i < members.size(); i++) {
        out.append(i > 0 ? "," : "").append(members.get(i).name()).append(':');
        members.get(i).value().write(out);
      }
      out.append('}');
    } else if (text.equals("[")) {
      for (int i = 0; i < items.size(); i++) {
        out.append(i > 0 ? "," : "");
        items.get(i).write(out);
      }
      out.append(']');
    }
  }
}
