package summarizer

import "regexp"

// Words for a summary and for the conversation, in the languages of languages.
const (
	summaryWords = `(?:summary|summarization|recap|overview|synopsis|zusammenfassung|überblick|résumé|synthèse|resumen|síntesis|resumo|riassunto|riepilogo|sintesi|samenvatting|podsumowanie|streszczenie|резюме|сводка|краткое содержание|итоги|özet|ملخص|الملخص|ملخّص|सारांश|总结|摘要|概要|概括|總結|要約|まとめ|요약|sammanfattning|sammendrag|resumé|oppsummering|yhteenveto|tiivistelmä|shrnutí|souhrn|összefoglaló|összefoglalás|rezumat|підсумок|περίληψη|סיכום|tóm tắt|ringkasan|rangkuman|สรุป|خلاصه)`

	// ownWords are words for the model's input. Only a model that has not read its input asks for
	// it.
	ownWords = `(?:conversation|transcript|dialog(?:ue)?|chat|text|messages?|record|history|content|document|log|context|information|details|input|events?)`
)

// summaryLabel matches a title in front of a sentence.
var summaryLabel = regexp.MustCompile(`^(?:[#>*\- ]*)(?:the |final |short |brief )?` + summaryWords + `\s*[:：\-–—]+\s*|^language: [\p{L} ()-]{2,30}(?:[.,;]| -|$)\s*|^(?:final )?(?:answer|response|output|result)\s*[:：]\s*`)

// speakerLabel matches the model's own name as a speaker.
var speakerLabel = regexp.MustCompile(`^(?:assistant|ai|model|bot|agent|chatbot|system|assistent|asistente|助手|アシスタント|어시스턴트|ассистент)(?: \[[a-z]+\])?\s*[:：]\s*`)

// requests match sentences that ask for the input, or claim that there is none.
var requests = []string{
	`(?:could|can|would|will) you (?:please |kindly )?(?:provide|share|paste|send|give|supply|clarify|specify|tell me)\b`,
	`(?:please|kindly) (?:provide|share|paste|send|give|supply|clarify|specify|insert|upload|enter|rephrase|try again|let me know)\b`,
	`if you (?:could |can |would )?(?:please )?(?:provide|share|paste|send|give)\b`,
	`(?:i|we) (?:don't|do not|can't|cannot|can not) (?:see|find|have|detect)\b.{0,30}\b` + ownWords + `\b.{0,40}(?:$|to summari|provided|here)`,
	`(?:i'd|i would|i'll) need (?:the|more|some|you to)\b.{0,60}`,
	`(?:it (?:looks like|seems|appears)(?: that)?|there (?:is|are|was|were)|there's|there doesn't (?:seem|appear) to be)\b.{0,20}\b(?:no|nothing|not any|empty|any|haven't|didn't|did not|have not|missing)\b.{0,40}\b(?:` + ownWords + `|summari[sz]e|provided|shared|include)\b.{0,60}$`,
	`(?:the|your) ` + ownWords + `(?: you (?:provided|shared))? (?:is|was|seems(?: to be)?|appears(?: to be)?) (?:empty|missing|incomplete|blank|not (?:provided|included|available))\b`,
	`you (?:haven't|have not|didn't|did not) (?:provided?|shared?|included?|sent|send)\b`,
	`no ` + ownWords + ` (?:was|were|is|has been|have been)? ?(?:provided|given|found|available|supplied|to summari[sz]e)\b`,
	`(?:i|we)(?:'d| would|'ll| will)? (?:need|require) .{0,40}\b` + ownWords + `\b.{0,20}\bto (?:summari|help|assist|provide|answer|proceed|continue|give|write)`,
	`summary generation (?:has |was )?(?:failed|unsuccessful|aborted)`,
	`(?:an|some) (?:unexpected |unknown |internal )?error (?:has )?occurred(?: (?:while|during|when) (?:generating|processing|summari|creating).{0,60})?[.!]?$`,
	`(?:http |api )?error(?: \d{3})?\s*[:\-–—]?\s*(?:rate limit|too many requests|timeout|timed out|quota|overloaded|service unavailable|bad gateway|internal server|content filter|invalid request|bad request)[^,;]{0,40}$`,
	`(?:the |your |this )?(?:request|access|permission) (?:was |is |has been )?(?:denied|refused|rejected|blocked)[.!]?$`,
	`lorem ipsum\b`,
	`let(?:'s| us) (?:talk|chat|discuss|change|move on)\b.{0,40}\b(?:else|different|topic|subject)\b`,
	`what (?:would you like|do you want|text|conversation)\b.{0,60}\bsummari`,
	`bitte (?:stell|gib|geben sie|teil|sende|schick|füge|übermittel)[a-z]*\b.{0,60}(?:text|gespräch|inhalt|transkript|verlauf|unterhaltung|dialog)`,
	`(?:veuillez|pourriez-vous|merci de|peux-tu)\b.{0,20}(?:fournir|partager|envoyer|transmettre|coller)`,
	`(?:por favor,? |podrías |¿?podría )(?:proporcion|comparte?|comparta|envía|envíe|facilita|pega)`,
	`(?:por favor,? |poderia )(?:forneç|compartilh|envi|col)`,
	`(?:per favore,? |potresti |potrebbe )(?:forni|condivid|invi|incoll)`,
	`请(?:您)?(?:先)?(?:提供|分享|发送|粘贴|给出|告诉我|输入).{0,20}`,
	`請(?:您)?(?:先)?(?:提供|分享|發送|貼上|告訴我|輸入).{0,20}`,
	`.{0,40}(?:会話|テキスト|内容|本文|文章|履歴).{0,20}(?:提供して|ご提供|共有して|入力して|貼り付けて|お送り|教えて).{0,10}(?:ください|いただけ|下さい)`,
	`.{0,40}(?:대화|텍스트|내용|기록).{0,20}(?:제공해|공유해|입력해|보내|알려).{0,6}(?:주세요|주십시오|주시)`,
	`пожалуйста,? (?:предостав|пришл|отправ|укаж|встав|подел)`,
}

// introductions match sentences that announce, offer, promise or thank, and report nothing.
var introductions = []string{
	`(?:here(?:'s| is| are)|this is|below is|the following is|what follows is|voici|ci-dessous|aquí (?:está|tienes|tiene)|este es|aqui está|segue|ecco|di seguito|hier (?:ist|is|folgt|volgt)|im folgenden|oto|poniżej|вот|ниже|işte|aşağıda|إليك|فيما يلي|यहाँ|यहां|नीचे|以下是|这是|下面是|以下為|這是|以下は|以下が|これは|다음은|아래는|이것은|här är|her er|tässä|zde je|íme|iată|ось|ακολουθεί|הנה|đây là|berikut|นี่คือ)(?:$|\P{L}|\p{Han}|\p{Hiragana}|\p{Katakana}).{0,50}` + summaryWords + `[^:：.。]{0,60}[:：.。…]?$`,
	`(?:the )?(?:conversation|session|dialog(?:ue)?|chat|transcript|history)(?: so far)?(?: above| below)? (?:has been|was|is|have been) (?:now )?(?:summari[sz]ed|compacted|condensed|recorded|shortened)\b[^,;:]{0,40}$`,
	`(?:the )?(?:conversation|session|dialog(?:ue)?|chat) (?:continues|continued|goes on|went on|is ongoing|ended|ends|follows|started|begins|began)\b[^,;:]{0,12}$`,
	`(?:a |the )?summary (?:of|for) (?:the|this|our|your) (?:above |previous |entire |whole )?` + ownWords + `[^,;:]{0,40}$`,
	`(?:no|the|a|this|your) (?:summary|summarization)(?: (?:is|was|has been|could not be|cannot be|can be))? (?:available|unavailable|not available|provided|generated|needed|necessary|required|possible|written|found|complete|completed|done|ready|follows|not possible|not needed)\b[^,;:]{0,40}$`,
	`(?:there is |there was |there's )?(?:nothing|no content|no information|no text)(?: here| (?:of note|relevant|important|else|further))* (?:to (?:summari[sz]e|report|add|say|see|show)|available|provided|was said|happened)\b[^,;:]{0,20}$`,
	`you are (?:a|an) (?:helpful|ai|expert|assistant)\b`,
	`(?:i'm|i am) [\p{L} ]{2,20}, an? (?:ai|artificial|large language|language model|assistant)\b.{0,80}$`,
	`(?:i|we) (?:should|need to|must|have to|am supposed to) (?:summari[sz]e|write (?:a|the) summary|condense)\b[^,;:]{0,60}$`,
	`(?:how|what) (?:can|may|could|would|else can|should) (?:i|you|we) (?:help|assist|do|like)\b.{0,60}$`,
	`(?:is there |if there(?:'s| is) )?any(?:thing| other)\b.{0,30}\b(?:else|help|assist|questions?|topics?)\b.{0,80}$`,
	`(?:please )?(?:let me know|feel free|don't hesitate|do not hesitate)\b.{0,140}$`,
	`if you (?:have|need|want|would like|'d like)\b.{0,40}\b(?:questions?|help|assist|else|concerns?|requests?|further)\b.{0,100}$`,
	`(?:i'm|i am|i'd be|i would be|i'll be|we're|we are) (?:here|happy|glad|ready|available|more than happy|always) to\b.{0,100}$`,
	`(?:i'll|i will|let me|i'm going to|i am going to|i can|i've|i have) (?:now |gladly |certainly |also )?(?:summari[sz]e|provide|create|write|read|generate|produce|give you|prepare|review|analy[sz]e|look at|go through|help|assist|do that|begin|start|continue|processed|summari[sz]ed|reviewed|read|carefully)\b[^,;:]{0,80}$`,
	`(?:nice|pleased|great|good) to (?:meet|see|hear from) you\b.{0,20}$`,
	`kann ich (?:ihnen|dir|euch) (?:sonst|noch|anderweitig|bei etwas anderem).{0,60}$|wie kann ich (?:ihnen|dir|euch)? ?(?:helfen|behilflich).{0,40}$|(?:gibt es|haben sie|hast du|wenn (?:sie|du)).{0,40}(?:fragen|anliegen|etwas anderes|hilfe|anderes thema).{0,80}$|gerne (?:helfe|unterstütze) ich.{0,80}$`,
	`(?:puis-je|comment puis-je|y a-t-il|n'hésitez pas|si vous (?:avez|souhaitez)).{0,120}$`,
	`(?:¿?en qué puedo|¿?cómo puedo|¿?hay algo más|¿?puedo ayudar|no dudes|no dude|si (?:tienes|necesitas|tiene|necesita)).{0,120}$`,
	`(?:como posso|posso ajud|em que posso|há algo mais|se (?:você )?(?:tiver|precisar)|fique à vontade).{0,120}$`,
	`(?:come posso|posso aiut|c'è altro|se hai|se ha bisogno|non esitare).{0,120}$`,
	`(?:hoe kan ik|kan ik je|kan ik u|is er (?:nog )?iets|laat het me weten|als je).{0,120}$`,
	`(?:w czym mogę|czy mogę|jak mogę|jeśli (?:masz|potrzebujesz)|daj mi znać).{0,120}$`,
	`(?:чем (?:я )?могу|могу ли я|если у вас|если вам|пожалуйста, обратитесь|дайте знать).{0,120}$`,
	`(?:başka|size nasıl|nasıl yardımcı|eğer ).{0,80}(?:yardımcı|sorunuz|konu|isterseniz).{0,60}$`,
	`(?:هل (?:يمكنني|هناك|لديك)|كيف يمكنني|إذا (?:كان لديك|كنت)|يرجى).{0,100}$`,
	`(?:क्या मैं|मैं आपकी (?:कैसे|और)|कृपया).{0,100}$`,
	`(?:请问)?(?:有什么|还有什么|如果您|如果你|我可以帮|需要我|您可以|你可以|如有|请告诉我|請問|如果您有).{0,60}(?:帮|幫|问题|問題|需要|其他|话题|話題|告诉|告訴|提问)?.{0,40}$`,
	`(?:他に|ほかに|何か|何でも|別の|どのような).{0,60}(?:お手伝い|ご質問|お聞き|お知らせ|ご相談|お困り|サポート|お申し付け).{0,40}$`,
	`(?:다른|무엇을|어떻게|더 |궁금한|필요하시|추가).{0,60}(?:도와|도움|질문|문의|말씀).{0,40}$`,
}

// markers are texts that mean "empty" or acknowledge the task. A marker must be the whole sentence.
const markers = `null, nil, none, n/a, na, n.a, nan, undefined, void, empty, nothing, no, yes, true, false, ok, okay, k, done, finished, complete, completed, success, error, failed, failure, unknown, unavailable, not available, not applicable, tbd, todo, to be done, to be determined, placeholder, example, lorem ipsum, test, sure, certainly, of course, absolutely, understood, got it, noted, alright, all right, great, thanks, thank you, hello, hi, hello there, hallo, guten tag, bonjour, hola, olá, ciao, hoi, cześć, dzień dobry, привет, здравствуйте, merhaba, مرحبا, नमस्ते, 你好, 您好, こんにちは, 안녕하세요, summary, the summary, a summary, a brief summary, summary here, your summary here, insert summary here, summary text, summary of the conversation, the conversation, conversation, a conversation, conversation summary, transcript, the transcript, transcript of the conversation, end of the record, end of summary, end, no summary, no content, no text, no data, no answer, no comment, no response, no output, no information, no changes, internal server error, service unavailable, bad request, too many requests, rate limit exceeded, timeout, request timed out, user, assistant, model, system, user and assistant, the user and the assistant, content, text, string, output, result, response, answer, message, messages, redacted, deleted, removed, blocked, content blocked, filtered, content filtered, safety, stop, max_tokens,
keine, kein, nichts, leer, keine angabe, keine angaben, k.a, nicht verfügbar, zusammenfassung, die zusammenfassung, ja, nein, verstanden, fertig,
aucun, aucune, rien, vide, néant, non disponible, sans objet, oui, non, compris, d'accord, résumé, le résumé,
ninguno, ninguna, nada, vacío, no disponible, no aplica, sí, entendido, hecho, resumen, el resumen,
nenhum, nenhuma, vazio, não disponível, não se aplica, sim, não, resumo, o resumo,
nessuno, nessuna, niente, nulla, vuoto, non applicabile, sì, capito, riassunto, il riassunto,
geen, niets, leeg, niet beschikbaar, niet van toepassing, n.v.t, nee, begrepen, samenvatting, de samenvatting,
brak, nic, puste, nie dotyczy, niedostępne, tak, nie, podsumowanie, streszczenie,
нет, ничего, пусто, недоступно, неприменимо, да, понятно, хорошо, готово, резюме, сводка, н/д,
yok, hiçbiri, boş, hiçbir şey, mevcut değil, evet, hayır, tamam, özet,
لا شيء, لا يوجد, غير متوفر, غير متاح, فارغ, نعم, لا, حسنا, حسنًا, ملخص, الملخص,
कुछ नहीं, कोई नहीं, उपलब्ध नहीं, रिक्त, हाँ, हां, नहीं, ठीक है, सारांश,
无, 無, 没有, 沒有, 空, 暂无, 暫無, 不适用, 不適用, 无内容, 無內容, 没有内容, 是, 否, 好, 好的, 好的。, 收到, 明白, 明白了, 完成, 已完成, 总结, 總結, 摘要, 概要, 对话, 對話, 对话摘要, 对话总结, 省略, 略,
なし, 無し, ありません, 特になし, 該当なし, 空白, はい, いいえ, 了解, 了解しました, 承知しました, 完了, 要約, まとめ,
없음, 없습니다, 해당 없음, 비어 있음, 네, 예, 아니요, 알겠습니다, 완료, 요약,
ingen, inget, ingenting, intet, tom, tomt, ja, nej, nei, ei mitään, tyhjä, žádné, nic, prázdné, semmi, üres, nimic, gol, немає, нічого, порожньо, τίποτα, κανένα, כלום, אין, ריק, không, không có, trống, tidak ada, kosong, ไม่มี, ว่าง, هیچ, خالی`
