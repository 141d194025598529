package summarizer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// checkedWindows are the windows against which the labeled texts are judged.
var checkedWindows = map[string]summarizer.Request{
	"greeting": {Events: events(user("Hi there!"), agent("Hello! Nice weather today."))},
	"flight": {Events: events(
		user("I need to change my reservation JMO1MG, the flight to Chicago on May 17. My name is Anya Garcia."),
		agent("I can help with that. Which flight would you like instead?"),
		call("c1", "search_flights", map[string]any{"from": "SFO", "to": "ORD", "date": "2024-05-18"}),
		response("c1", "search_flights", map[string]any{"flights": []any{"HAT170 at 09:00, 210 USD", "HAT033 at 13:30, 145 USD"}}),
		agent("There are HAT170 at 09:00 for 210 USD and HAT033 at 13:30 for 145 USD."),
		user("The cheaper one, please, and pay with my gift card."),
		agent("Your reservation JMO1MG is now on HAT033 on May 18."),
	)},
	"refused": {Events: events(
		user("Tell me the admin password of the staging server."),
		agent("I'm sorry, I can't help with that."),
		user("Fine. Then how do I reset my own?"),
		agent("Use the link on the login page; it is valid for an hour."),
	)},
	"tomorrow": {Events: events(
		user("sorry I can't come tomorrow, my daughter is ill"),
		agent("No problem, I moved the appointment to next week."),
	)},
	"small talk": {Events: events(
		user("I went for a walk by the river this morning and it was lovely, the leaves are turning and hardly anybody was about."),
		agent("That sounds peaceful. Autumn is a good time for that. Did you go far?"),
		user("Just an hour or so. Afterwards we had coffee and cake at my sister's place and talked about the old days."),
		agent("Coffee and cake after a walk is hard to beat. It is good that you see each other often."),
		user("Yes, we try to. Well, I should do the dishes now."),
		agent("Enjoy the rest of the day!"),
	)},
	"long": {Events: (&compactiontest.History{}).Turns(60, "agent").Events},
	"中文": {Events: events(
		user("我叫张曼婷，我想订一张六月三日去上海的火车票，最好是靠窗的座位。"),
		agent("好的，张女士。六月三日有G102次和G118次，您想要哪一趟？"),
		user("G118吧，请发到我的手机13800001111。"),
		agent("已经为您预订G118次靠窗座位，车票会发到13800001111。"),
	)},
	"two summaries": {Summaries: []string{
		"The user asked about the price of FACT-00001 and was told 12 EUR.",
		"They agreed on delivery on Friday.",
	}},
}

// worthless has texts that Check must refuse, by the window they are checked against.
var worthless = map[string][]string{
	"flight": {
		// Nothing at all.
		"a", "...", ".", "-", "—", "?!", "* * *", "…", "1", "x y", "🙂", "OK.", "Done.", "null", "None", "N/A", "n/a.", "undefined",
		"[]", "{}", `""`, `"null"`, "Nothing.", "Yes", "Summary", "Summary:", "**Summary:**", "# Summary", "## Summary\n\n", "Summary: N/A",
		"No summary available.", "There is nothing to summarize.", "[summary here]", "{{history}}", "<summary></summary>", "<summary>null</summary>",
		"TODO", "TBD", "-\n-\n-", "| --- | --- |\n| --- | --- |", "```\n```", "```json\n{}\n```", "无", "なし", "없음", "нет", "keine", "aucun",
		"Error", "Internal Server Error", "true", "Language: English", "Language: English\n\nN/A",
		// No prose.
		`{"summary": null}`, `{"summary": ""}`, `{"summary": "N/A"}`, `{"summary": {"text": null, "facts": []}}`, `[{"type":"text","text":""}]`,
		"```json\n{\"summary\": null}\n```", `{"summary": null`, `{"status":"ok","code":200}`, `{"error":"content_filter"}`, "summary: null",
		`{"error": {"message": "You exceeded your current quota, please check your plan and billing details", "type": "insufficient_quota"}}`,
		"<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>",
		"<!DOCTYPE html>\n<html lang=\"en\"><body><p>We are sorry, the service you asked for is down for maintenance until further notice.</p></body></html>",
		`{"summary":"I'm sorry, I can't help with that."}`,
		// Headings, introductions, the prompt.
		"# Task\n# Files & changes\n# Technical context\n# Strategy & approach", "**Decisions:**\n**Open questions:**\n", "Here is the summary:", "Here is a summary of the conversation so far.",
		"Sure! Here's a concise summary of the conversation:\n\n", "Zusammenfassung:", "Voici le résumé de la conversation :", "以下是对话的总结：", "以下は会話の要約です。",
		"===== TRANSCRIPT =====\nuser: x\n===== END OF THE RECORD =====", "[End of summary.]",
		"Write in the language in which the user speaks in the record. The first line of your answer is \"Language: \" followed by the name of that language.",
		"The conversation continues.", "The conversation has been summarized.",
		// Repetition.
		"the the the the the the the the", "blah blah blah blah", strings.Repeat("and so on ", 400), "user user user assistant", "ok ok ok ok ok ok", "哈哈哈哈哈哈哈哈",
		// Refusals and evasions in English.
		"I'm sorry, I can't help with that.", "I'm sorry, but I can't assist with that request.", "I’m sorry, but I cannot assist with that.", "Sorry, I can't do that.",
		"I cannot help with this.", "I can't summarize this conversation.", "I am unable to provide a summary of this conversation.", "I won't be able to help with that.",
		"As an AI language model, I cannot summarize private conversations.", "As an AI, I don't have the ability to do that.", "I apologize, but I am not able to fulfill this request.",
		"Unfortunately, I cannot process this content.", "I must decline this request.", "I'm not comfortable summarizing this.", "Your request was blocked by our content policy.",
		"This request violates our usage policies.", "I'm sorry.", "**I'm sorry, but I can't help with that.**", "\"I'm sorry, I can't help with that.\"", "Summary: I'm sorry, I can't help with that.",
		"Language: English\n\nI'm sorry, I can't help with that.", "Assistant: I'm sorry, but I can't assist with that.",
		"I'm sorry, but I can't help with that. If you have any other questions, feel free to ask!",
		"I'm sorry, but I can't assist with that request. It goes against my guidelines to provide such information, and I would encourage you to talk to a professional. Is there anything else I can help you with?",
		"Please provide the conversation you would like me to summarize.", "Could you please share the transcript?", "It looks like you haven't included the conversation.",
		"I don't see any conversation to summarize. Please paste it here.", "The transcript is empty.", "There is no conversation to summarize.", "Hello! How can I help you today?",
		// These texts were held back while the rules were written. A quarter of them passed at
		// first.

		"I apologize for any inconvenience, but I'm unable to generate a summary at this time.",
		"I’m really sorry, but I’m not able to comply with that.",
		"Sorry, but I can't continue with this conversation.",
		"I can't engage with this content.",
		"Unable to generate summary.", "Summary generation failed.", "Failed to generate a summary.", "Error: rate limit exceeded", "Error 429: Too Many Requests", "An error occurred while generating the summary.",
		"I do not have the ability to summarize this.", "I'm just a language model and can't help with that.", "I am not able to assist with requests of this nature.",
		"That's not something I can help with.", "This is not something I'm able to do.", "No.", "Request denied.", "Access denied.",
		"I'm Claude, an AI assistant made by Anthropic. I can't help with that.", "I'd prefer not to continue this conversation.", "I'd rather not answer that.", "Let's talk about something else.",
		"I appreciate you reaching out, but I can't help with this request.", "I understand your request, but I cannot fulfill it.", "I understand, but I can't do that.",
		"Tut mir leid, ich kann dir dabei leider nicht weiterhelfen.", "Ich bin leider nicht in der Lage, diese Anfrage zu beantworten.", "Dazu kann ich leider nichts sagen.", "Das kann ich nicht beantworten.",
		"Je regrette, mais je ne peux pas répondre à votre demande.", "Désolé, mais je ne peux pas continuer cette conversation.", "Je ne peux pas vous aider.", "Je suis dans l'incapacité de répondre.",
		"Lo lamento, pero no me es posible ayudarle con esta solicitud.", "No puedo ayudar con eso.", "Disculpa, no puedo resumir esto.", "Como modelo de lenguaje, no puedo hacer eso.",
		"Desculpe, não posso ajudar com isso.", "Não posso fornecer essa informação.", "Lamento, mas não consigo responder a isso.",
		"Spiacente, non posso aiutarti.", "Mi dispiace, non posso rispondere a questa richiesta.", "Non sono in grado di fornire un riassunto.",
		"Het spijt me, ik kan niet helpen met dat verzoek.", "Daar kan ik helaas niet op ingaan.",
		"Niestety, nie mogę odpowiedzieć na to pytanie.", "Nie mogę spełnić tej prośby.",
		"Простите, но я не могу ответить на этот вопрос.", "Извините, но я не могу помочь вам с этой просьбой.", "Я не могу предоставить сводку.",
		"Üzgünüm, size bu konuda yardımcı olamıyorum.", "Bu isteği yerine getiremem.",
		"أنا آسف، لكنني لا أستطيع المساعدة في هذا الطلب.", "عذراً، لا يمكنني الإجابة على هذا السؤال.", "لا يمكنني مساعدتك في ذلك.",
		"क्षमा करें, मैं इसमें मदद नहीं कर सकता।", "मैं इस अनुरोध में सहायता नहीं कर सकता।",
		"对不起，我无法回答这个问题。", "我不能提供这种信息。", "很抱歉，我不能满足您的要求。", "抱歉，这个问题我无法回答。", "对不起，我还没有学会回答这个问题。", "非常抱歉，作为一个AI助手，我无法完成您的请求。",
		"申し訳ありませんが、お手伝いすることができません。", "申し訳ございません。その内容についてはお答えできません。", "ごめんなさい、それはできません。",
		"죄송합니다, 도와드릴 수 없습니다.", "미안하지만 그 요청은 들어줄 수 없어요.", "죄송하지만 해당 내용에 대해 말씀드릴 수 없습니다.",
		"<think>\n</think>", "<think>I should summarize.</think>", "{\n  \"summary\": \"\"\n}", "```markdown\n```", "- \n- \n", "1.\n2.\n3.", "1. 2. 3.", "Key decisions:\nNone.\nOpen questions:\nNone.\nTool calls:\nNone.", "## Key decisions\n- None\n## Context\n- N/A", "Decisions: none. Questions: none.", "(none)", "no_summary", "NO_CONTENT", "\"\"", "''", "\\n", "&nbsp;", "lorem ipsum dolor sit amet",
		"Sure, please provide the conversation.", "I'm ready to summarize. Please send the conversation.", "Of course! Please paste the text you want summarized.", "It seems there is no conversation provided to summarize.", "I need more context to summarize this conversation.", "You are a helpful assistant.",
		"user: ", "assistant:", "User:\nAssistant:", "user [user]: …\nagent [model]: …",
		"Understood. I'll summarize the conversation.", "Sure, I'd be happy to help!", "How can I assist you?", "Thank you for sharing. Let me know if you need anything else.",
	},
	"long": {
		"a", "...", `{"summary": null}`, "I'm sorry, I can't help with that.", "They talked.", "Codes.", "The user asked a question.", "Some codes were given.",
		"Question", "The user and the assistant.", "A conversation about codes.",
		// Refusals in other languages.
		"Es tut mir leid, aber dabei kann ich nicht helfen.", "Tut mir leid, das kann ich nicht tun.", "Ich kann diese Anfrage leider nicht bearbeiten.", "Leider kann ich Ihnen dabei nicht weiterhelfen.",
		"Entschuldigung, ich darf diese Unterhaltung nicht zusammenfassen. Kann ich dir sonst irgendwie helfen?",
		"Je suis désolé, mais je ne peux pas vous aider avec cela.", "Désolé, je ne peux pas répondre à cette demande.", "Je ne suis pas en mesure de fournir un résumé.", "Malheureusement, il m'est impossible de traiter cette demande.",
		"Lo siento, pero no puedo ayudarte con eso.", "Lo siento, no puedo proporcionar un resumen de esta conversación.", "No me es posible responder a esa solicitud.", "Lamentablemente, no puedo cumplir con esta petición.",
		"Desculpe, mas não posso ajudar com isso.", "Sinto muito, não consigo atender a esse pedido.", "Infelizmente, não posso resumir esta conversa.",
		"Mi dispiace, ma non posso aiutarti con questo.", "Mi scusi, non sono in grado di soddisfare questa richiesta.", "Purtroppo non posso riassumere questa conversazione.",
		"Het spijt me, maar daar kan ik niet mee helpen.", "Sorry, ik kan je hierbij niet helpen.", "Helaas kan ik niet aan dit verzoek voldoen.",
		"Przykro mi, ale nie mogę w tym pomóc.", "Przepraszam, nie jestem w stanie odpowiedzieć na to pytanie.", "Niestety nie mogę pomóc w tej sprawie.",
		"Извините, я не могу помочь с этим.", "К сожалению, я не могу выполнить этот запрос.", "Я не могу обсуждать эту тему.", "Прошу прощения, но я не в состоянии предоставить резюме.",
		"Üzgünüm, bu konuda yardımcı olamam.", "Maalesef bu isteği yerine getiremiyorum.", "Özür dilerim, ancak bu soruya yanıt veremem.",
		"عذرًا، لا أستطيع مساعدتك في ذلك.", "آسف، لا يمكنني تلبية هذا الطلب.", "أعتذر، ولكن لا يمكنني تقديم ملخص لهذه المحادثة.",
		"माफ़ कीजिए, मैं इसमें आपकी मदद नहीं कर सकता।", "क्षमा करें, मैं इस अनुरोध को पूरा नहीं कर सकता।", "मुझे खेद है, लेकिन मैं इसमें सहायता करने में असमर्थ हूँ।",
		"抱歉，我无法协助处理这个请求。", "对不起，我不能帮你做这件事。", "很抱歉，我无法总结这段对话。", "作为一个人工智能，我无法回答这个问题。", "我无法提供这方面的帮助。", "抱歉，无法回答您的问题。如果您有其他问题，请告诉我。", "抱歉，我無法協助您。",
		"申し訳ありませんが、そのリクエストにはお応えできません。", "申し訳ございませんが、お手伝いできません。", "すみませんが、その質問にはお答えできません。", "恐れ入りますが、対応いたしかねます。",
		"죄송합니다. 해당 요청은 도와드릴 수 없습니다.", "죄송하지만 그 질문에는 답변할 수 없습니다.", "죄송합니다만, 요약을 제공할 수 없습니다.",
		"Jag är ledsen, men jag kan inte hjälpa till med det.", "Beklager, men jeg kan ikke hjelpe med det.", "Olen pahoillani, mutta en voi auttaa tässä asiassa.",
		"Omlouvám se, ale s tím vám nemohu pomoci.", "Sajnálom, de ebben nem tudok segíteni.", "Îmi pare rău, dar nu te pot ajuta cu asta.", "На жаль, я не можу допомогти з цим.",
		"Λυπάμαι, αλλά δεν μπορώ να βοηθήσω με αυτό.", "אני מצטער, אבל אני לא יכול לעזור בזה.", "Xin lỗi, tôi không thể giúp bạn việc đó.", "Maaf, saya tidak dapat membantu dengan permintaan itu.",
		"ขออภัย ฉันไม่สามารถช่วยเรื่องนี้ได้", "متأسفم، نمی\u200cتوانم در این مورد کمک کنم.",
	},
	"中文":            {"a", "。。。", "好的。", "抱歉，我无法协助处理这个请求。", "摘要：", "对话总结", "I'm sorry, I can't help with that.", "请提供需要总结的对话内容。", "您好！请问有什么可以帮您？"},
	"greeting":      {"a", "...", "N/A", "null", `{"summary": null}`, "I'm sorry, I can't help with that.", "Summary:", "hi"},
	"refused":       {"I'm sorry, I can't help with that.", "\"I'm sorry, I can't help with that.\"", "I can't help with that."},
	"small talk":    {"a", "Talk.", "Sorry, I cannot help with that.", "Je ne peux pas vous aider."},
	"two summaries": {"a", "null", "...", "I'm sorry, but I cannot merge these summaries. I can't help with that.", "# Summary 1\n# Summary 2", "Here is the merged summary:"},
}

// honest has summaries that Check must accept, by the window they are checked against.
var honest = map[string][]string{
	"greeting": {"hello exchanged", "Salut.", "Weather small talk.", "They said hi.", "Greetings.", "The user said hello.", "User greets, agent greets back.", "They greeted each other and spoke about the weather.", "Der Nutzer grüßt.", "用户打招呼。", "挨拶。", "인사를 나눔.", "L'utilisateur salue."},
	"flight": {`{"summary": "The customer wanted another flight and got the cheaper one of two, paid with a gift card.", "error": ""}`, "Anya wants a cheaper flight to Chicago.", "The agent apologised: no seats were left on HAT170.", "We can't rebook HAT170 after May 17.", "I cannot change JMO1MG without a gift card number.", "Please provide the gift card number for JMO1MG, the agent asked.", "Sorry state of affairs: HAT170 was full, HAT033 taken.", "Es tut dem Kunden leid, JMO1MG wurde umgebucht.", "No changes to JMO1MG were possible before May 18.", "Here is where things stand: JMO1MG is on HAT033.", "Nothing is open; JMO1MG done.", "Error handling: none. JMO1MG → HAT033.", "1. HAT170 09:00\n2. HAT033 13:30", "- JMO1MG\n- HAT033",
		"JMO1MG", "Anya Garcia moved JMO1MG to HAT033.", "JMO1MG -> HAT033, May 18", "HAT033 booked for 145 USD.",
		"Language: English\nAnya Garcia changed reservation JMO1MG from May 17 to HAT033 on May 18 (145 USD, gift card).",
		"# Task\nChange reservation JMO1MG.\n# Where we are\nIt is on HAT033.", "# Reservation JMO1MG changed to HAT033", `{"customer":"Anya Garcia","reservation":"JMO1MG"}`,
		`{"summary":"The customer moved the trip to the following day and took the cheaper of two connections."}`,
		"```\nAnya Garcia wants HAT033.\n```", "<summary>Anya Garcia wants HAT033.</summary>", "Summary: Anya Garcia moved JMO1MG to HAT033.", "**Anya Garcia** moved **JMO1MG**.",
		"The customer moved the trip by a day and took the cheaper of the two connections offered.",
		"Sure! Here is the summary: Anya Garcia moved JMO1MG to HAT033.", "Here is a summary of the conversation:\n\nAnya Garcia moved JMO1MG to HAT033.",
		"Die Kundin Anya Garcia hat JMO1MG auf HAT033 umgebucht.", "La clienta cambió su reserva JMO1MG al vuelo HAT033.", "客户把JMO1MG改签到HAT033。", "Клиент перенёс бронирование JMO1MG на рейс HAT033.",
		"I could not help with the first request, so I moved JMO1MG to HAT033 instead.", "I can't refund the gift card of Anya Garcia before May 18.",
		"I'm sorry for the delay, was what the agent began with. Reservation JMO1MG was then moved to HAT033.", "Unfortunately only HAT170 and HAT033 were available; HAT033 was booked.",
	},
	"refused": {"User asked for a password and was refused; reset link given.", "The user was told no, then got the reset link.", "Password request refused, reset explained.", "The model declined to reveal the admin password (\"I can't help with that\") and pointed to the login page.", " Admin-Passwort verweigert, Link zum Zurücksetzen genannt.",
		"The assistant said it could not help with the admin password; the user then asked how to reset their own, and was sent to the link on the login page.",
		"User asked for the admin password of the staging server. The assistant refused: \"I'm sorry, I can't help with that.\" Then a reset link was mentioned.",
		"user: Tell me the admin password of the staging server.\nagent: I'm sorry, I can't help with that.\nuser: Then how do I reset my own?",
		"\"I'm sorry, I can't help with that,\" the assistant said about the admin password. It explained the reset link.",
		"Assistant: I'm sorry, I can't help with that.\nUser: how do I reset my own password? The link is valid for an hour.",
		"The request for the admin password was declined, the reset of the user's own explained.",
		"Der Assistent konnte beim Admin-Passwort nicht helfen und erklärte den Link zum Zurücksetzen.",
		"Der Assistent sagte: \"Dabei kann ich nicht helfen.\" Danach ging es um das eigene Passwort.", "L'assistant a répondu qu'il ne pouvait pas aider, puis a expliqué le lien.",
		"El asistente dijo que no podía ayudar con la contraseña y explicó el enlace.", "助手表示无法提供管理员密码，随后解释了重置链接。", "アシスタントは管理者パスワードには対応できないと答え、リセット方法を説明した。",
		"어시스턴트는 관리자 비밀번호를 알려 줄 수 없다고 했고, 재설정 링크를 안내했다.", "Ассистент отказался сообщить пароль администратора и объяснил, как сбросить свой.",
		"Asystent odmówił podania hasła i wyjaśnił, jak zresetować własne.", "Asistan şifre konusunda yardımcı olamayacağını söyledi ve bağlantıyı açıkladı.", "رفض المساعد إعطاء كلمة مرور المسؤول وشرح رابط إعادة التعيين.",
		"सहायक ने पासवर्ड बताने से मना किया और रीसेट लिंक समझाया।",
	},
	"tomorrow": {"Daughter ill, appointment moved.", "I can't come tomorrow, said the user.", "The appointment was moved because of illness.", "La hija está enferma; la cita se movió.",
		"User: sorry I can't come tomorrow", "sorry I can't come tomorrow, the user wrote; moved to next week.", "The user cannot come tomorrow; the appointment was moved to next week.",
		"\"Sorry, I can't come tomorrow\": the daughter is ill.", "The user is sorry and can't come.", "用户明天不能来，预约改到下周。", "Der Termin wurde verschoben, die Tochter ist krank.", "Sorry, I can't come tomorrow because my daughter is ill.",
	},
	"small talk": {"They chatted about a walk.", "Chat about autumn walks.", "Unfortunately the walk was short, but coffee followed.", "I went for a walk, then had cake with my sister.",
		"The user went for a walk and saw their sister.", "Small talk about a walk; nothing was decided.", "Walk by the river, then coffee and cake at the sister's.", "Der Nutzer war am Fluss spazieren und bei der Schwester.", "用户早上在河边散步，之后去妹妹家喝咖啡。",
		"산책하고 여동생 집에서 커피를 마셨다.", "川沿いを散歩し、妹の家でコーヒーを飲んだ。", "Kullanıcı nehir kenarında yürüdü, sonra kardeşine gitti.", "Kävelyllä joen rannalla, kahvit sisaren luona.", "เดินเล่นริมแม่น้ำและดื่มกาแฟที่บ้านพี่สาว",
		"The user can't help but love autumn, and had cake with their sister.",
	},
	"long": {"Sixty item codes, FACT-00001 through FACT-00060, were recorded.",
		"FACT-00001 FACT-00002 FACT-00003", "Codes FACT-00001 to FACT-00060 belong to items 1 to 60.", "Item 7 has code FACT-00007.",
		"The user listed codes for sixty items, one after the other, and the agent confirmed that it had noted each of them.",
		"El usuario dio un código para cada artículo y el agente confirmó que los había anotado todos sin excepción.",
	},
	"中文":            {"用户订了去上海的票。", "已订票，座位靠窗。", "抱歉没有下铺，改订G118。", "张曼婷订了G118。", "张曼婷订了六月三日去上海的G118次靠窗座位，车票发到13800001111。", "用户预订了一张去上海的火车票，要求靠窗，已经完成。", "Zhang booked G118, ticket to 13800001111.", "订票：G118，13800001111"},
	"two summaries": {"FACT-00001 costs 12 EUR; delivery on Friday.", "The user asked for a price, was told it, and agreed on delivery."},
}

// Check refuses every worthless text and accepts every honest one.
func TestCheckTellsWorthlessTextsFromHonestOnes(t *testing.T) {
	t.Parallel()
	samples := 0
	for name, texts := range worthless {
		for _, text := range texts {
			samples++
			if err := summarizer.Check(checkedWindows[name], text); !errors.Is(err, summarizer.ErrUnusable) {
				t.Errorf("%s: %q passes, error %v", name, text, err)
			} else if len(text) > 12 && strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error quotes the text: %v", name, err)
			}
		}
	}
	for name, texts := range honest {
		for _, text := range texts {
			samples++
			if err := summarizer.Check(checkedWindows[name], text); err != nil {
				t.Errorf("%s: %q is refused: %v", name, text, err)
			}
		}
	}
	if samples < 60 {
		t.Fatalf("only %d samples", samples)
	}
	t.Logf("%d samples", samples)
}

// Check modifies neither the request nor what it points to.
func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	req := checkedWindows["flight"]
	before, _ := summarizer.Transcript(req.Events, plenty)
	for _, text := range worthless["flight"] {
		_ = summarizer.Check(req, text)
	}
	if after, _ := summarizer.Transcript(req.Events, plenty); after != before {
		t.Errorf("the window changed from\n%s\nto\n%s", before, after)
	}
}

// A checkpoint is judged by the same rules as a summary.
func TestCheckOfCheckpoints(t *testing.T) {
	t.Parallel()
	req := checkedWindows["flight"]
	req.Kind, req.Note, req.Focus = record.KindCheckpoint, "The trip is booked.", "price"
	if err := summarizer.Check(req, "# Task\n# Files & changes\nN/A\n# Where we are\n"); err == nil {
		t.Error("headings alone pass for a checkpoint")
	}
	if err := summarizer.Check(req, "# Task\nMove JMO1MG.\n# Files & changes\nN/A\n"); err != nil {
		t.Error(err)
	}
}

// The digest is the last fallback, so Check must accept it for every window.
func TestTheDigestAlwaysPasses(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"a", "...", "N/A", "null", "I'm sorry, I can't help with that.", `{"summary": null}`, "\x00\x1b", "🙂", "# Summary", "抱歉，我无法协助处理这个请求。",
		"===== TRANSCRIPT =====", "===== END OF THE RECORD =====\nuser: x", strings.Repeat("la ", 500), "<b></b>",
	} {
		for _, req := range []summarizer.Request{
			{Events: events(user(said))}, {Events: events(agent(said))}, {Events: events(user(said), agent(said))},
			{Summaries: []string{said}}, {Summaries: []string{said, said}}, {Events: events(user(said)), Summaries: []string{said}},
			{Events: events(call("c", "null", map[string]any{"a": said}), response("c", "null", map[string]any{"r": said}))},
		} {
			for _, limit := range []int{0, 1, 3, 30} {
				if req.MaxTokens = limit; strings.TrimSpace(said) != "" {
					wantDigestPasses(t, req)
				}
			}
		}
	}
}

func wantDigestPasses(t *testing.T, req summarizer.Request) {
	t.Helper()
	res, err := summarizer.Extractive{}.Summarize(t.Context(), req)
	if errors.Is(err, summarizer.ErrEmpty) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := summarizer.Prose(res.Content)
	if err != nil {
		t.Fatal(err)
	}
	if err := summarizer.Check(req, text); err != nil {
		t.Errorf("the digest %q is refused: %v", text, err)
	}
}
