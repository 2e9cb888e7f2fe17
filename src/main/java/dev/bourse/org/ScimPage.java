package dev.bourse.org;

import dev.bourse.core.Text;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A page of users according to RFC 7644, section 3.4.2, and RFC 7643, section 4.1.
 *
 * @param users by user name in lower case, for which the standard allows several; resources that
 *     are not valid users are left out
 * @param resources how many resources the page holds, users or not
 * @param total how many there are on all pages
 */
record ScimPage(Map<String, List<User>> users, int resources, long total) {
  /**
   * A user.
   *
   * @param addresses identifies the user: every e-mail address, and the user name, which many
   *     directories fill with an address; in lower case
   */
  record User(Set<String> addresses, Directory.Person person) {}

  /** The most addresses of one user that are read; people have fewer. */
  private static final int MAX_ADDRESSES = 100;

  /** The longest possible address, and longer than any name; longer texts are ignored. */
  private static final int MAX_TEXT = 320;

  /**
   * Reads the body of an answer.
   *
   * @param lastLogin the attribute with the last sign-in, empty for none
   * @throws RuntimeException when it is not a list of resources
   */
  static ScimPage parse(Buffer body, String lastLogin) {
    JsonObject list = new JsonObject(body);
    if (!(list.getValue("totalResults") instanceof Number total)) {
      throw new IllegalArgumentException("the answer is not a list: totalResults is missing");
    }
    Object resources = list.getValue("Resources", new JsonArray());
    if (!(resources instanceof JsonArray array)) {
      throw new IllegalArgumentException("the answer is not a list: Resources is not an array");
    }
    Map<String, List<User>> users = new LinkedHashMap<>();
    for (Object resource : array) {
      if (resource instanceof JsonObject user) {
        String userName = text(user, "userName");
        Optional<Directory.Person> person = person(user, lastLogin);
        if (!userName.isEmpty() && person.isPresent()) {
          users
              .computeIfAbsent(Text.folded(userName), name -> new ArrayList<>())
              .add(new User(addresses(user, userName), person.get()));
        }
      }
    }
    return new ScimPage(users, array.size(), total.longValue());
  }

  private static Optional<Directory.Person> person(JsonObject user, String lastLogin) {
    Object active = user.getValue("active", true);
    // Some directories write booleans as text.
    String text = Text.folded(String.valueOf(active));
    if (!text.equals("true") && !text.equals("false")) {
      return Optional.empty();
    }
    return Optional.of(
        new Directory.Person(
            email(user), name(user), text.equals("true"), lastLogin(user, lastLogin)));
  }

  private static Set<String> addresses(JsonObject user, String userName) {
    Set<String> addresses = new HashSet<>(Set.of(Text.folded(userName)));
    if (user.getValue("emails") instanceof JsonArray emails) {
      emails.stream()
          .limit(MAX_ADDRESSES)
          .filter(JsonObject.class::isInstance)
          .map(entry -> Text.folded(text((JsonObject) entry, "value")))
          .filter(address -> !address.isEmpty())
          .forEach(addresses::add);
    }
    return addresses;
  }

  /** The primary address, or else the first. */
  private static String email(JsonObject user) {
    String first = "";
    if (user.getValue("emails") instanceof JsonArray emails) {
      for (Object entry : emails) {
        if (entry instanceof JsonObject email) {
          if (Boolean.TRUE.equals(email.getValue("primary"))) {
            return text(email, "value");
          }
          first = first.isEmpty() ? text(email, "value") : first;
        }
      }
    }
    return first;
  }

  private static String name(JsonObject user) {
    String display = text(user, "displayName");
    if (!display.isEmpty() || !(user.getValue("name") instanceof JsonObject name)) {
      return display;
    }
    String formatted = text(name, "formatted");
    return formatted.isEmpty()
        ? Stream.of(text(name, "givenName"), text(name, "familyName"))
            .filter(part -> !part.isEmpty())
            .collect(Collectors.joining(" "))
        : formatted;
  }

  private static @Nullable Long lastLogin(JsonObject user, String attribute) {
    int colon = attribute.lastIndexOf(':');
    Object holder = colon < 0 ? user : user.getValue(attribute.substring(0, colon));
    if (attribute.isEmpty() || !(holder instanceof JsonObject fields)) {
      return null;
    }
    try {
      return OffsetDateTime.parse(text(fields, attribute.substring(colon + 1)))
          .toInstant()
          .toEpochMilli();
    } catch (DateTimeException | ArithmeticException notATime) {
      return null;
    }
  }

  /** A field's text; empty if it is missing or of another type. */
  private static String text(JsonObject fields, String name) {
    return fields.getValue(name) instanceof String text && text.length() <= MAX_TEXT ? text : "";
  }
}
