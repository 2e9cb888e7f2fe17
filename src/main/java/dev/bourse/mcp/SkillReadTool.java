package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads skills, for clients whose models cannot read resources. */
public final class SkillReadTool implements Tool {
  private static final String GET = "get";
  private static final String NAME = "name";

  private static final ArgumentRules FIELDS =
      new ArgumentRules("action", Set.of(), Map.of("list", Set.of(), GET, Set.of(NAME)));

  private final ServiceDescription reference;

  public SkillReadTool(ServiceDescription reference) {
    this.reference = reference;
  }

  @Override
  public String name() {
    return "skill_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.empty();
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    FIELDS.check(arguments);
    if (!GET.equals(arguments.getString("action"))) {
      return reference.skills().map(SkillReadTool::list).map(JsonObject::toBuffer);
    }
    String name = FIELDS.text(arguments, NAME);
    return reference
        .skills()
        .map(
            skills ->
                skills.stream()
                    .filter(skill -> name(skill).equals(name))
                    .findFirst()
                    .map(
                        skill ->
                            new JsonObject()
                                .put("skill", summary(skill))
                                .put("text", skill.text())
                                .toBuffer())
                    .orElseThrow(() -> unknown(name, skills)));
  }

  private static JsonObject list(List<ServiceDescription.Skill> skills) {
    JsonArray summaries = new JsonArray();
    skills.forEach(skill -> summaries.add(summary(skill)));
    return new JsonObject().put("skills", summaries);
  }

  private static JsonObject summary(ServiceDescription.Skill skill) {
    return new JsonObject()
        .put(NAME, name(skill))
        .put("description", skill.frontmatter().getString("description"))
        .put("uri", skill.uri())
        .put("digest", skill.digest())
        .put("size", skill.size());
  }

  private static String name(ServiceDescription.Skill skill) {
    return skill.frontmatter().getString(NAME);
  }

  private static ApiException unknown(String name, List<ServiceDescription.Skill> skills) {
    return ApiException.of(
        ErrorCode.NOT_FOUND,
        "name: there is no skill '%s'; there is %s",
        Text.shown(name),
        skills.stream().map(SkillReadTool::name).collect(Collectors.joining(", ")));
  }
}
