package dev.bourse.roadmap;

import dev.bourse.world.Yaml;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.Reader;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The operator's roadmap.
 *
 * @param entries in the order of the file; none without a file
 */
public record Roadmap(List<RoadmapEntry> entries) {
  /** A roadmap without entries. */
  public static final Roadmap EMPTY = new Roadmap(List.of());

  /** So that all entries fit into one answer of a tool, which models read as a whole. */
  static final int MAX_ENTRIES = 100;

  static final int MAX_TITLE = 100;
  static final int MAX_SUMMARY = 500;

  /** The longest sound file is some 100,000 characters long. */
  private static final int MAX_CHARACTERS = 1_048_576;

  private static final Pattern ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

  public Roadmap {
    entries = List.copyOf(entries);
  }

  /**
   * Reads a file.
   *
   * @param name the file's, for messages
   * @throws IOException listing every fault of the file
   */
  public static Roadmap read(String name, Reader reader) throws IOException {
    List<String> faults = new ArrayList<>();
    Yaml yaml = Yaml.read(name, reader, faults, MAX_CHARACTERS);
    Roadmap roadmap = new Roadmap(yaml.list("entries", Roadmap::entry));
    yaml.reportUnknownKeys();
    Set<String> ids = new HashSet<>();
    for (RoadmapEntry entry : roadmap.entries) {
      if (!entry.id().isEmpty() && !ids.add(entry.id())) {
        faults.add(name + ": the id '" + entry.id() + "' is used twice");
      }
    }
    if (roadmap.entries.size() > MAX_ENTRIES) {
      faults.add(
          "%s: %d entries; expected at most %d"
              .formatted(name, roadmap.entries.size(), MAX_ENTRIES));
    }
    if (!faults.isEmpty()) {
      throw new IOException(String.join("\n", faults));
    }
    return roadmap;
  }

  private static RoadmapEntry entry(Yaml yaml) {
    RoadmapEntry entry =
        new RoadmapEntry(
            yaml.required("id", "", Roadmap::id),
            yaml.required("title", "", text -> bounded(text, MAX_TITLE)),
            yaml.required("status", RoadmapEntry.Status.PLANNED, Roadmap::status),
            yaml.required("since", LocalDate.EPOCH, Roadmap::day),
            yaml.required("summary", "", text -> bounded(text, MAX_SUMMARY)),
            yaml.texts("operations"));
    if (entry.status() == RoadmapEntry.Status.SHIPPED && entry.operations().isEmpty()) {
      yaml.fault("operations is missing; a shipped feature names the operations it consists of");
    }
    return entry;
  }

  private static String id(String text) {
    if (!ID.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "expected 1 to 63 lower-case letters, digits and hyphens, and no hyphen first");
    }
    return text;
  }

  private static String bounded(String text, int most) {
    String stripped = text.strip();
    if (stripped.isEmpty() || stripped.length() > most) {
      throw new IllegalArgumentException("expected 1 to " + most + " characters");
    }
    return stripped;
  }

  private static LocalDate day(String text) {
    try {
      return LocalDate.parse(text);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("expected a day such as \"2026-03-01\", in quotes", e);
    }
  }

  private static RoadmapEntry.Status status(String text) {
    return Stream.of(RoadmapEntry.Status.values())
        .filter(status -> status.label().equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "expected "
                        + Arrays.stream(RoadmapEntry.Status.values())
                            .map(RoadmapEntry.Status::label)
                            .collect(Collectors.joining(", "))));
  }

  /**
   * Requires that the operations of shipped features exist. A planned feature may name operations
   * that do not exist yet.
   *
   * @throws IOException naming each that does not
   */
  public void requireOperations(Set<String> known) throws IOException {
    List<String> faults =
        entries.stream()
            .filter(entry -> entry.status() == RoadmapEntry.Status.SHIPPED)
            .flatMap(
                entry ->
                    entry.operations().stream()
                        .filter(operation -> !known.contains(operation))
                        .map(
                            operation ->
                                "roadmap entry '%s': no contract has an operation '%s'"
                                    .formatted(entry.id(), operation)))
            .toList();
    if (!faults.isEmpty()) {
      throw new IOException(String.join("\n", faults));
    }
  }

  /** The entries, or those of a status alone. */
  public JsonObject toJson(Optional<String> status) {
    JsonArray listed = new JsonArray();
    entries.stream()
        .filter(entry -> status.isEmpty() || entry.status().label().equals(status.get()))
        .forEach(entry -> listed.add(entry.toJson()));
    return new JsonObject().put("entries", listed);
  }
}
