package dev.bourse.docs;

import dev.bourse.core.Digests;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * A skill for agents: one Markdown file in the <a href="https://agentskills.io/specification">Agent
 * Skills</a> format, whose front matter names and describes it.
 *
 * @param frontmatter the front matter; {@code name} and {@code description} are texts
 * @param text the whole file, front matter included
 */
public record Skill(JsonObject frontmatter, String text) {
  /** All skills; the name is that of the file in the jar and of the skill. */
  static final List<String> NAMES = List.of("bourse");

  private static final String FENCE = "---\n";

  /** Reads the front matter of a file; a file without one is a defect of the program. */
  static Skill of(String text) {
    int end = text.indexOf('\n' + FENCE);
    if (!text.startsWith(FENCE) || end < 0) {
      throw new IllegalStateException("a skill lacks its front matter");
    }
    Map<String, Object> fields =
        new Yaml(new SafeConstructor(new LoaderOptions()))
            .load(text.substring(FENCE.length(), end + 1));
    return new Skill(new JsonObject(fields), text);
  }

  /** The skill's name, which is also that of its folder. */
  public String name() {
    return frontmatter.getString("name");
  }

  String description() {
    return frontmatter.getString("description");
  }

  /** The path of the file over HTTP. */
  public String path() {
    return path(name());
  }

  /** The path of a skill's file; the format requires that the folder has the skill's name. */
  static String path(String name) {
    return "/skills/" + name + "/SKILL.md";
  }

  /** The length of the file in bytes. */
  public int size() {
    return bytes().length;
  }

  /** The digest of the file's bytes: {@code sha256:} and 64 lowercase hexadecimal digits. */
  public String digest() {
    return "sha256:" + HexFormat.of().formatHex(Digests.sha256(bytes()));
  }

  private byte[] bytes() {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
