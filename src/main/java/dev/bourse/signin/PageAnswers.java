package dev.bourse.signin;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import dev.bourse.pages.PageHeaders;
import dev.bourse.pages.PageTemplates;
import java.util.List;
import java.util.Map;

/** Renders templates as answers, and refusals as pages. */
public final class PageAnswers implements Operations.ErrorPages {
  private final PageTemplates templates;

  public PageAnswers(PageTemplates templates) {
    this.templates = templates;
  }

  /** A page with forms that are submitted to this service. */
  public Answer.RenderedPage page(
      int status,
      String template,
      Map<String, Object> model,
      List<Map.Entry<String, String>> further) {
    return new Answer.RenderedPage(
        status, PageTemplates.HTML, templates.render(template, model), PageHeaders.strict(further));
  }

  /** A page with one message and a link. */
  public Answer.RenderedPage message(
      int status, String title, String text, String link, String linkText) {
    return message(status, title, text, "", link, linkText, List.of());
  }

  private Answer.RenderedPage message(
      int status,
      String title,
      String text,
      String note,
      String link,
      String linkText,
      List<Map.Entry<String, String>> further) {
    return page(
        status,
        "message",
        Map.of("title", title, "text", text, "note", note, "link", link, "link_text", linkText),
        further);
  }

  @Override
  public Answer.RenderedPage render(ApiException refusal) {
    boolean isNowhere = refusal.code() == ErrorCode.NOT_FOUND;
    Object retryAfter = refusal.extras().get("retry_after_s");
    return message(
        refusal.code().status(),
        title(refusal.code()),
        sentence(refusal.detail()),
        isNowhere
            ? "The address may be mistyped, or the page no longer exists."
            : retryAfter == null ? "" : "Try again in " + retryAfter + " seconds.",
        isNowhere ? "/" : "/sign-in",
        isNowhere ? "Go to the start page" : "Go to sign-in",
        retryAfter == null ? List.of() : List.of(Map.entry("retry-after", retryAfter.toString())));
  }

  private static String title(ErrorCode code) {
    return switch (code) {
      case RATE_LIMITED -> "Too many attempts";
      case FORBIDDEN, UNAUTHORIZED -> "That did not work";
      case OVERLOADED -> "Not available now";
      case INTERNAL -> "Something went wrong";
      case NOT_FOUND, GONE -> "Page not found";
      default -> "This request cannot be answered";
    };
  }

  private static String sentence(String detail) {
    return detail.isEmpty()
        ? ""
        : "%c%s%s"
            .formatted(
                Character.toUpperCase(detail.charAt(0)),
                detail.substring(1),
                detail.endsWith(".") ? "" : ".");
  }
}
