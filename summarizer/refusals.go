package summarizer

import "regexp"

// phrasebook holds the refusals of one language. Each field is a regular expression for the
// beginning of a folded sentence (see fold), or "".
//
// A refusal names its subject, the model, and what the model will not do: "I can't help" is one,
// "can't connect" is not. In languages that leave out the subject, the verb is in the first person,
// or the phrase is in afterApology and counts only after an apology. apologies and openers must end
// at the end of a word. The caller checks that, because \b knows only ASCII letters.
type phrasebook struct {
	name         string
	apologies    string
	openers      string // courtesies, "unfortunately", "but"
	refusals     string
	afterApology string
}

// namesTheUser matches a report in the first person, which is not a refusal: "I cannot help the
// customer before the form arrives".
var namesTheUser = regexp.MustCompile(`^\P{L}*(?:i|we) .{0,30}(?:help|assist|give|offer|provide|answer) (?:the (?:user|customer|client|caller|guest|patient)|him|her|them)\b`)

var languages = []phrasebook{
	{
		name:      "English",
		apologies: `(?:i'?m|i am|we are|we're) (?:so |very |really |truly |deeply )?(?:sorry|afraid)(?: (?:to say )?that)?|(?:so |very )?sorry(?: about that| for [^,.;:]{1,40})?|(?:my )?(?:sincere )?apologies(?: for [^,.;:]{1,40})?|(?:i|we) (?:do |sincerely )?apologi[sz]e(?: for [^,.;:]{1,60})?|unfortunately|regrettably|i regret(?: to (?:say|inform you))?(?: that)?`,
		openers:   `(?:i|we) (?:understand|appreciate|see|recogni[sz]e|hear|know)(?: [^,.;:]{1,60})?|but|however|and|so|thus|therefore|as such|that said|please note(?: that)?|(?:thank you|thanks)(?: for [^,.;:]{1,60})?|(?:sure|certainly|absolutely|of course|okay|ok|understood|got it|noted|great|hi|hello|hey)(?: there)?|as an? (?:ai|artificial intelligence|large language model|language model)[^,.;:]{0,60}|i(?:'m| am) (?:just |only )?an? (?:ai|artificial|large language model|language model)[^,.;:]{0,60}|at (?:this|the) (?:time|moment)|due to [^,.;:]{1,60}|(?:based on|given|according to|in line with|because of) (?:my|our|the) (?:safety |content |usage |current )*(?:guidelines|polic(?:y|ies)|instructions|programming|limitations|capabilities)`,
		refusals: `(?:i|we)(?:'m| am|'re| are)? (?:really |currently |simply |just |also |still )?(?:can ?not|can't|cant|can not|won't|will not|unable to|not able to|not allowed to|not permitted to|not in a position to|not comfortable|not capable of|incapable of|not going to|not programmed to|not designed to|prohibited from|forbidden (?:to|from)|don't feel comfortable|do not feel comfortable|refuse to|must not|shouldn't|should not)\b.{0,50}?\b(?:help|assist|comply|provid|fulfil|do (?:that|this|it|so)\b|answer|discuss|engag|continu|creat|generat|produc|process|complet|summari|support|respond|participat|access|shar|writ|offer|give|handl|perform|proceed|condens|facilitat|condone|endors|satisfy)` +
			`|(?:i|we) (?:must|have to|need to|am going to have to|'ll have to|will have to) (?:respectfully |politely )?(?:decline|refuse)\b` +
			`|(?:i|we) (?:respectfully |politely )?(?:decline|refuse)\b` +
			`|(?:i|we) (?:couldn't|could not|failed to|was unable to|were unable to|wasn't able to) (?:generat|creat|produc|summari|complet (?:the|your|this) (?:request|summary)|process (?:the|your|this))` +
			`|(?:i|we) (?:don't|do not) have (?:access to|the (?:ability|capability|capacity)|permission|enough (?:information|context)|any (?:information|context|conversation|record|memory)|a (?:conversation|transcript))` +
			`|i(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|large language model|language model)\b` +
			`|(?:this|that|it|your request|the request|this request|the content|this content|the conversation)(?: is| goes)? (?:against|violates?|in violation of|not something i can|inappropriate|contrary to|not allowed under|blocked by|prohibited by)\b` +
			`|(?:your |the |this )?(?:request|response|content|prompt|answer|output|input) (?:was|is|has been|could not be|cannot be|can't be|couldn't be) (?:blocked|filtered|flagged|refused|rejected|denied|fulfilled|processed|completed|generated|summarized)\b` +
			`|(?:it is|it's) not (?:possible|appropriate) for me\b|there is nothing i can\b` +
			`|(?:that|this|it)(?:'s| is) (?:not |beyond )(?:something |a request |what )?(?:that )?(?:i|we|my)(?:'m| am| can)?\b` +
			`|(?:i'd|i would|i'll|i will) (?:prefer not|rather not|have to pass|not be able)\b` +
			`|(?:unable|failed|cannot|can't|could not|couldn't|impossible)(?: to)? (?:generate|create|produce|write|complete|provide|process|give)(?: an?| the| this| your)? (?:summary|response|answer|output|request|reply)\b`,
	},
	{
		name:      "German",
		apologies: `(?:es )?tut mir (?:sehr |wirklich |aufrichtig )?leid|entschuldigung|entschuldigen sie(?: bitte)?|entschuldige|verzeihung|(?:ich )?bedau(?:e)?re|leider|bedauerlicherweise|sorry`,
		openers:   `aber|jedoch|doch|dass|als (?:ki|künstliche|sprachmodell|ki-)[^,.;:]{0,50}|natürlich|gerne|verstanden`,
		refusals: `(?:ich|wir) (?:kann|können|darf|dürfen|werde|bin|möchte|muss|will)\b.{0,90}?\b(?:nicht|kein[a-z]*|ablehnen|außerstande)\b.{0,60}?(?:helfen|behilflich|unterstütz|beantwort|antwort|zusammenfass|erfüllen|nachkommen|bereitstell|fortfahren|fortsetzen|eingehen|bearbeit|ausführ|erstell|zugreifen|entsprechen|in der lage|anbieten|liefern|teilnehm|diskutier|verarbeit|weitermachen|tun\b|geben\b)` +
			`|(?:ich|wir) (?:muss|müssen) .{0,60}ablehnen` +
			`|(?:dabei|damit|das|darauf|dazu|hierbei|hiermit|diese[rsnm]?|auf diese|ihre[rnm]?|deine[rnm]?|bei (?:dieser|diesem|so etwas)|mit (?:dieser|diesem))\b.{0,60}?\b(?:kann|können|darf|dürfen|möchte|werde) (?:ich|wir)\b.{0,60}?\b(?:nicht|kein)` +
			`|(?:kann|darf|können|dürfen) (?:ich|wir)\b.{0,50}?\b(?:nicht|kein)[a-z]*\b.{0,50}?(?:helfen|behilflich|unterstütz|antwort|zusammenfass|erfüllen|nachkommen|bereitstell|geben|tun\b)` +
			`|(?:ich|wir) (?:habe|haben) kein(?:en|e)? (?:zugriff|zugang|möglichkeit|berechtigung)`,
	},
	{
		name:      "French",
		apologies: `(?:je suis |nous sommes )?(?:vraiment |sincèrement |profondément )?désolée?s?|(?:je vous présente )?(?:toutes )?mes excuses|(?:je )?(?:m'excuse|regrette)|veuillez m'excuser|excusez-moi|pardon|malheureusement`,
		openers:   `mais|cependant|toutefois|que|en tant qu'(?:ia|intelligence|assistant)[^,.;:]{0,60}|en tant que modèle[^,.;:]{0,60}|bien sûr|d'accord`,
		refusals: `(?:je|nous) ne (?:peux|puis|pouvons|pourrai|suis|sommes|vais|souhaite|dispose|saurais)\b.{0,90}?(?:aider|assist|répondre|fourni|accéder|accès|résumer|continuer|poursuivre|donner|satisfaire|traiter|effectuer|discuter|créer|générer|faire|participer|exécuter|accepter|en mesure|partager|proposer)` +
			`|(?:je|nous) (?:dois|devons|préfère|suis contrainte? de|suis dans l'obligation de) (?:malheureusement )?(?:décliner|refuser)` +
			`|(?:je suis|nous sommes) (?:incapables?|dans l'impossibilité|dans l'incapacité)` +
			`|il (?:m'est|nous est|ne m'est pas) (?:malheureusement )?(?:impossible|possible)`,
	},
	{
		name:      "Spanish",
		apologies: `lo (?:siento|lamento)(?: mucho| muchísimo)?|(?:mis |te pido |le pido |pido )?(?:disculpas?|perdón)|disculpe|perdona|perdone|lamentablemente|desafortunadamente|por desgracia|me temo que|lamento`,
		openers:   `pero|sin embargo|que|como (?:modelo|ia|inteligencia|asistente)[^,.;:]{0,60}|claro|por supuesto|entendido`,
		refusals: `(?:yo |nosotros )?no (?:puedo|podemos|podré|me es posible|es posible|estoy (?:en condiciones|autorizad[oa]|capacitad[oa]|programad[oa])|soy capaz|logro|debo|tengo permitido)\b.{0,70}?(?:ayud|asisti|proporcion|respond|cumpli|atend|resum|continu|proces|realiz|gener|crear|hacer|acced|brind|ofrec|particip|discut|complet|satisfac|dar\b|darte|darle|seguir)` +
			`|no tengo (?:acceso|la capacidad|permiso|la posibilidad)|me es imposible|(?:debo|tengo que) (?:declinar|rechazar|negarme)|soy incapaz de`,
	},
	{
		name:      "Portuguese",
		apologies: `(?:sinto|lamento) muito|(?:me )?desculp(?:e|a|as|em)(?:-me)?|peço desculpas?|minhas desculpas|lamento|infelizmente|perdão`,
		openers:   `mas|porém|no entanto|contudo|que|como (?:modelo|ia|uma ia|inteligência|assistente|um modelo)[^,.;:]{0,60}|claro|entendido`,
		refusals: `(?:eu |nós )?não (?:posso|podemos|poderei|consigo|conseguimos|sou capaz|estou (?:autorizad[oa]|apt[oa]|em condi)|me é possível|é possível|devo)(?:$|\P{L}).{0,70}?(?:ajud|auxili|assist|fornec|respond|atend|cumpri|resum|continu|process|realiz|gerar|criar|faz|acess|prosseg|oferec|participar|discut|complet|dar\b|te dar|lhe dar)` +
			`|não tenho (?:acesso|permiss|capacidade|a capacidade)|(?:devo|tenho que|preciso) (?:recusar|declinar)|sou incapaz de`,
	},
	{
		name:      "Italian",
		apologies: `mi (?:dispiace|scuso|spiace)(?: molto)?|(?:mi )?scus(?:a|i|ate|ami|atemi)|chiedo scusa|purtroppo|(?:sono )?spiacente|le mie scuse`,
		openers:   `ma|però|tuttavia|che|in quanto (?:ia|modello|intelligenza|assistente)[^,.;:]{0,60}|come (?:modello|ia|intelligenza)[^,.;:]{0,60}|certo|certamente`,
		refusals: `(?:io |noi )?non (?:posso|possiamo|potrò|sono (?:in grado|autorizzat[oa]|capace)|mi è possibile|riesco|è possibile|ho (?:accesso|la possibilità|la capacità))(?:$|\P{L}).{0,70}?(?:aiut|assist|forni|rispond|rispost|soddisf|riassum|continu|proced|elabor|esegu|gener|crear|fare|farlo|acced|discut|dare|darti|darle|partecip|accontent|completar|conversazion)` +
			`|(?:devo|sono costrett[oa] a) (?:rifiutare|declinare)|sono impossibilitat[oa]|sono incapace di`,
	},
	{
		name:      "Dutch",
		apologies: `(?:het )?spijt me|sorry|excuses|mijn excuses|helaas|neem me niet kwalijk`,
		openers:   `maar|echter|dat|als (?:ai|taalmodel|kunstmatige|een ai)[^,.;:]{0,50}|natuurlijk`,
		refusals: `(?:ik|wij|we) (?:kan|kunnen|mag|mogen|ben|moet|zal|wil)\b.{0,70}?\b(?:niet|geen|weigeren|afwijzen)\b.{0,60}?(?:help|assist|antwoord|samenvat|voldoen|verstrek|geven|doorgaan|uitvoer|verwerk|maken|ondersteun|ingaan|in staat|bieden|doen\b|voldaan|behulpzaam|delen)` +
			`|(?:daar|hier|dat|dit|deze|daarmee|hiermee)\b.{0,40}?\b(?:kan|mag|kunnen|mogen) (?:ik|we|wij)\b.{0,50}?\b(?:niet|geen)\b` +
			`|(?:kan|mag|kunnen) (?:ik|we|wij)\b.{0,50}?\b(?:niet|geen)\b.{0,50}?(?:help|assist|antwoord|samenvat|voldoen|verstrek|bieden)` +
			`|(?:ik|wij|we) (?:moet|moeten) .{0,50}(?:weigeren|afwijzen)|ik heb geen (?:toegang|mogelijkheid|toestemming)`,
	},
	{
		name:      "Polish",
		apologies: `(?:bardzo )?(?:przepraszam|przykro mi)(?: bardzo)?|niestety|wybacz(?:cie)?`,
		openers:   `ale |jednak |że |jako (?:model|sztuczna|ai|asystent)[^,.;:]{0,60}`,
		refusals: `(?:ja |my |w tym |z tym |na to |tego |w tej sprawie )?nie (?:mogę|możemy|jestem w stanie|potrafię|wolno mi|będę w stanie|da się).{0,70}?(?:pom[oó]|odpowie|dostarcz|spełni|podsumow|stre[sś][cz]|kontynu|wykona|przetworz|udzieli|zrealiz|wygener|stworz|zrobi|wspiera|asyst|uczestn|poda|wesprze)` +
			`|nie mam (?:dostępu|możliwości|uprawnień)|(?:muszę|jestem zmuszony) (?:odmówić|odrzucić)|odmawiam`,
	},
	{
		name:      "Russian",
		apologies: `(?:приношу (?:свои )?)?извин(?:ите|и|ения|яюсь)(?: пожалуйста)?|прошу прощения|простите|к сожалению|увы|мне (?:очень )?жаль|сожалею`,
		openers:   `но |однако |что |как (?:языковая|ии|искусственный|модель|ассистент)[^,.;:]{0,60}`,
		refusals: `(?:я |мы |с этим |в этом |этого )*(?:не могу|не можем|не смогу|не сможем|не в состоянии|не имею права|не вправе|не способен|не способна|не буду|не умею).{0,70}?(?:помо|ответ|отвеч|предостав|выполн|обсужд|резюмир|продолж|обработ|созда|сдела|подвести|содейств|участв|поддерж|изложить|сформир|сгенер|дать|кратк|ассист|удовлетвор)` +
			`|(?:я )?(?:вынужден|вынуждена|должен|должна) (?:отказать|отклонить)|у меня нет (?:доступа|возможности)|(?:я )?не имею (?:доступа|возможности)`,
	},
	{
		name:      "Turkish",
		apologies: `(?:çok )?üzgünüm|özür dilerim|maalesef|ne yazık ki|kusura bakmayın|affedersiniz`,
		openers:   `ancak |ama |fakat |bir (?:yapay zeka|dil modeli)[^,.;:]{0,60}`,
		refusals:  `.{0,110}?(?:yardımcı ola|yardım ede|cevap vere|yanıt vere|yanıtlaya|cevaplaya|sağlaya|gerçekleştire|yerine getire|özetleye|devam ede|oluştura|suna|karşılaya|işleye|bilgi vere|destekleye|paylaşa|yapa)(?:mam|mem|mıyorum|miyorum|mayız|meyiz|mıyoruz|miyoruz|mayacağım|meyeceğim|mam\.)`,
	},
	{
		name:      "Arabic",
		apologies: `(?:أنا )?(?:آسف|آسفة|اسف|أعتذر|نعتذر|نأسف|عذر[اًا]*|عفو[اًا]*|معذرة|المعذرة|للأسف|مع الأسف|يؤسفني)(?: جد[اًا]*)?(?: بشدة)?`,
		openers:   `(?:و?لكن(?:ني|نا|ي)?|إلا أن(?:ني)?|ف?أنا|إنني|أنني|بأنني|أن|كنموذج[^,.;:]{0,50}|بصفتي[^,.;:]{0,50})(?: |$)`,
		refusals: `(?:أنا |فأنا )?(?:لا (?:أستطيع|استطيع|يمكنني|يمكننا|أقدر|نستطيع|أملك|يسعني)|لست قادر[اًاة]*|لن (?:أتمكن|أستطيع|يمكنني)|غير قادر|ليس (?:بإمكاني|بوسعي)|يتعذر علي).{0,60}?(?:مساعد|تلبية|تقديم|ال[إا]جابة|الرد|تنفيذ|تلخيص|المتابعة|معالجة|مناقشة|إنشاء|القيام|توفير|أساعد|الوصول|المشاركة)` +
			`|(?:عن )?عدم (?:قدرتي|تمكني|القدرة)`,
	},
	{
		name:      "Hindi",
		apologies: `(?:मुझे )?(?:माफ़|माफ|क्षमा|खेद)(?: करें| कीजिए| कीजिये| करना| है| चाहता हूँ| चाहता हूं| चाहती हूँ| चाहती हूं)*(?: कि)?|दुर्भाग्य(?:वश| से)|अफ़सोस|अफसोस|मैं (?:माफ़ी|माफी|क्षमा) (?:चाहता|चाहती) (?:हूँ|हूं)`,
		openers:   `(?:लेकिन|परंतु|परन्तु|पर|किंतु|कि|एक (?:एआई|ai)[^,.;:]{0,50})(?: |$)`,
		refusals: `(?:(?:इस|इसमें|आपकी|आपके|आपको|यह|ऐसा)\S* ?.{0,30})?(?:मैं|हम)(?: |,).{0,90}?(?:नहीं (?:कर|दे|बना|हो|बता) (?:सक|पा)|असमर्थ|सक्षम नहीं|नहीं कर सक)` +
			`|(?:मुझे|मेरे लिए) .{0,60}(?:अनुमति नहीं|संभव नहीं)`,
		afterApology: `.{0,90}?(?:मदद|सहायता|उत्तर|जवाब|अनुरोध|सारांश).{0,40}?(?:नहीं|असमर्थ)`,
	},
	{
		name:      "Chinese",
		apologies: `(?:非常|很|十分|真的|实在)?(?:抱歉|对不起|對不起|不好意思|遗憾|遺憾)|请(?:您)?(?:原谅|见谅)|請見諒`,
		openers:   `但是|但|不过|不過|然而|因此|所以|作为(?:一个|一名|一款)?(?:人工智能|ai|语言模型|大语言模型|助手)[^,。;:]{0,20}|作為(?:一個)?(?:人工智慧|ai|語言模型)[^,。;:]{0,20}|好的`,
		refusals: `(?:我|我们|我們|本人|作为[^,。]{0,20})(?:目前|暂时|暫時|现在|現在|恐怕|并|也|实在|實在|真的|还|還)*(?:无法|無法|不能|没办法|沒辦法|没有办法|沒有辦法|不可以|不便|难以|難以|不会|不會|没有能力|沒有能力|无权|無權|拒绝|拒絕|做不到|没有学会|沒有學會).{0,40}?(?:帮|幫|协助|協助|提供|回答|处理|處理|满足|滿足|完成|总结|總結|摘要|继续|繼續|执行|執行|生成|讨论|討論|回应|回應|答复|答覆|支持|请求|請求|要求|问题|問題|访问|訪問|概括|归纳|歸納|给您|给你)` +
			`|(?:您|你)的(?:请求|請求|问题|要求)(?:无法|無法|不能|违反)|(?:该|此|这个|這個)(?:请求|請求|问题|内容|要求).{0,8}(?:无法|無法|不能|违反)`,
		afterApology: `[^,。]{0,14}(?:无法|無法|不能|没办法|沒辦法|不便|难以).{0,30}?(?:帮|幫|协助|協助|提供|回答|处理|處理|满足|滿足|完成|总结|總結|摘要|继续|繼續|执行|執行|生成|讨论|討論|回应|回應|答复|支持)`,
	},
	{
		name:         "Japanese",
		apologies:    `(?:大変|誠に|まことに)?(?:申し訳(?:ありません|ございません|ない(?:です)?|御座いません)|すみません|すいません|恐れ入ります|恐縮です|ごめんなさい|残念(?:です|ながら|ですが)|失礼(?:ですが|しました))`,
		openers:      `が|けれど(?:も)?|しかし|ただ|でも|aiとして|(?:ai|人工知能|言語モデル)(?:である|の)?(?:ため|ので|私)[^、。,]{0,20}`,
		refusals:     `(?:その|この|こちらの|ご|お|私(?:は|には|では)|当方|そちら|そのような|このような|会話|内容|リクエスト)?[^。]{0,50}?(?:お手伝い|お答え|ご回答|回答|ご対応|対応|お応え|お力|ご要望|ご依頼|リクエスト|ご質問|要約|ご提供|提供|サポート|ご支援)[^。]{0,20}?(?:できません|出来ません|できかね|致しかね|いたしかね|応じられません|添えません|なれません|お断り)`,
		afterApology: `[^。]{0,60}?(?:できません|出来ません|できかね|致しかね|いたしかね|お断り|応じられません|お応えできない|対応できない)`,
	},
	{
		name:         "Korean",
		apologies:    `(?:정말 |대단히 |매우 )?(?:죄송|미안|유감)(?:합니다|하지만|합니다만|해요|스럽지만|스럽게도|하게도)?|안타깝(?:게도|지만)|아쉽(?:게도|지만)`,
		openers:      `(?:하지만|그러나|다만|만|저는|제가|ai로서|(?:ai|인공지능)[^,.]{0,20}(?:로서|이므로|이기 때문에))(?: |,|$)`,
		refusals:     `.{0,70}?(?:도와드릴|도와 드릴|도울|도움을 드릴|도움을 줄|도움드릴|답변할|답변드릴|답변해 드릴|답변을 드릴|대답할|제공할|제공해 드릴|제공해드릴|처리할|처리해 드릴|요약할|요약해 드릴|응답할|이행할|들어드릴|수행할|지원할|지원해 드릴|계속할|생성할|응할) 수(?:가|는)? 없(?:습니다|어요|음|네요)`,
		afterApology: `.{0,70}? 수(?:가|는)? 없(?:습니다|어요|음|네요)`,
	},
	{
		name:      "Swedish, Danish and Norwegian",
		apologies: `(?:jag är |jeg er )?(?:ledsen|ked af det|lei meg|beklager|undskyld|unnskyld|tyvärr|desværre|dessverre|förlåt|jag beklagar|jeg beklager)(?: ,)?`,
		openers:   `men |att |at |som (?:ai|en ai|språkmodell|sprogmodel)[^,.;:]{0,50}`,
		refusals:  `(?:det |dette |detta |denna |denne )?(?:jag|jeg|vi|kan jag|kan jeg|kan vi)(?: (?:kan|får|må|er|är))?\b.{0,30}?(?:inte|ikke|ej)\b.{0,60}?(?:hj[äæe]l[pt]|svar|bist|tillhandahåll|sammanfatt|sammenfat|oppsummer|fortsätt|fortsett|fortsæt|utför|utfør|udfør|uppfyll|oppfyll|opfyld|ge\b|gi\b|give\b)`,
	},
	{
		name:      "Finnish",
		apologies: `(?:olen )?pahoillani|valitettavasti|anteeksi|ikävä kyllä`,
		openers:   `mutta |tekoälynä[^,.;:]{0,40}`,
		refusals:  `(?:minä |me )?(?:en|emme) (?:valitettavasti )?(?:voi|pysty|saa|kykene).{0,60}?(?:aut[te]|vasta|tiivist|tarjota|tehdä|jatka|toteut|käsitel|antaa)`,
	},
	{
		name:      "Czech and Slovak",
		apologies: `omlouvám se|ospravedlňujem sa|je mi (?:to )?líto|je mi ľúto|bohužel|bohužiaľ|promiňte|prepáčte|lituji`,
		openers:   `ale |že |však |jako (?:ai|jazykový|umělá)[^,.;:]{0,50}`,
		refusals:  `(?:s tím |s týmto |na to |to )?(?:vám |ti )?(?:nemohu|nemůžu|nemůžeme|nejsem schop|nedokážu|nemôžem|nie som schop).{0,60}?(?:pom[oô]|odpov|poskyt|shrn|zhrn|spln|pokrač|prov[eé]|zprac|vyhov|udělat|vytvoř)`,
	},
	{
		name:      "Hungarian",
		apologies: `(?:nagyon )?(?:sajnálom|elnézést(?: kérek)?|bocsánat(?:ot kérek)?|sajnos)`,
		openers:   `de |azonban |hogy `,
		refusals:  `(?:ebben |ezzel |erre |ezt )?(?:a kérés[a-zé]* )?nem (?:tudok|tudom|tudunk|áll módomban|áll módunkban|segíthetek).{0,60}?(?:segít|válasz|összefoglal|teljesít|nyújt|folytat|feldolgoz|biztosít|kérés|\.|$)`,
	},
	{
		name:      "Romanian",
		apologies: `(?:îmi (?:pare (?:foarte )?rău|cer scuze)|scuze|din păcate|regret|ne pare rău)`,
		openers:   `dar |însă |că |ca (?:model|ia|inteligență)[^,.;:]{0,50}`,
		refusals:  `(?:eu )?nu (?:te |vă )?(?:pot|putem|sunt în măsură|sunt capabil|îmi este posibil|voi putea).{0,60}?(?:ajut|asist|ofer|răspun|rezum|furniz|continu|îndeplin|proces|gener|da curs)`,
	},
	{
		name:      "Ukrainian",
		apologies: `(?:перепрошую|вибачте|пробачте|на жаль|мені (?:дуже )?шкода|прошу вибачення)`,
		openers:   `але |проте |однак |що `,
		refusals:  `(?:я |ми |з цим |у цьому )*(?:не можу|не можемо|не зможу|не в змозі|не маю (?:можливості|доступу|права)).{0,60}?(?:допомог|відпов|надат|викон|обговор|підсум|продовж|оброб|створ|зробит|$)`,
	},
	{
		name:      "Greek",
		apologies: `(?:λυπάμαι(?: πολύ)?|συγγνώμη|ζητώ συγγνώμη|δυστυχώς|με συγχωρείτε)`,
		openers:   `αλλά |όμως |ωστόσο |που `,
		refusals:  `δεν (?:μπορώ|μπορούμε|είμαι σε θέση|θα μπορέσω).{0,60}?(?:βοηθ|απαντ|παρ[έεά]|συνοψ|εξυπηρ|εκπληρ|συνεχ|κάνω|ικανοπ)`,
	},
	{
		name:      "Hebrew",
		apologies: `(?:אני )?(?:מצטער(?:ת)?|מתנצל(?:ת)?|סליחה|לצערי|צר לי)`,
		openers:   `(?:אבל|אך|אולם)(?: |$)`,
		refusals:  `(?:אני |אנחנו )?(?:לא (?:יכול|יכולה|אוכל|מסוגל|מסוגלת)|איני יכול|אינני יכול|אין באפשרותי|אין ביכולתי|לא ניתן לי).{0,60}?(?:לעזור|לסייע|לענות|לספק|לסכם|להמשיך|לבצע|להשיב|לתת)`,
	},
	{
		name:         "Vietnamese",
		apologies:    `(?:tôi )?(?:rất )?(?:xin lỗi|rất tiếc|tiếc là|thành thật xin lỗi)`,
		openers:      `nhưng |tuy nhiên |vì |là (?:một )?(?:mô hình|ai|trợ lý)[^,.;:]{0,50}`,
		refusals:     `(?:tôi|mình|chúng tôi|em) (?:hiện )?(?:không thể|không có khả năng|không được phép|xin phép từ chối|phải từ chối).{0,60}?(?:giúp|hỗ trợ|trả lời|cung cấp|tóm tắt|thực hiện|đáp ứng|tiếp tục|xử lý|yêu cầu)`,
		afterApology: `không thể.{0,60}?(?:giúp|hỗ trợ|trả lời|cung cấp|tóm tắt|thực hiện|đáp ứng)`,
	},
	{
		name:      "Indonesian and Malay",
		apologies: `(?:saya )?(?:mohon |minta )?maaf(?:kan saya)?|sayangnya|mohon maaf`,
		openers:   `tetapi |tapi |namun |bahwa |sebagai (?:model|ai)[^,.;:]{0,50}`,
		refusals:  `(?:saya|kami|aku) (?:tidak (?:dapat|bisa|mampu|diizinkan|boleh)|belum (?:dapat|bisa)|harus menolak).{0,60}?(?:bantu|menjawab|memberi|menyedia|merangkum|memenuhi|melanjutkan|memproses|meringkas|melakukan|permintaan)`,
	},
	{
		name:         "Thai",
		apologies:    `(?:ฉัน|ผม|ดิฉัน|เรา)?(?:ต้อง)?(?:ขออภัย|ขอโทษ|เสียใจ)(?:ด้วย)?(?:ครับ|ค่ะ|คะ|นะ)*`,
		openers:      `แต่|อย่างไรก็ตาม`,
		refusals:     `(?:ฉัน|ผม|ดิฉัน|เรา|ทางเรา).{0,20}?(?:ไม่สามารถ|ไม่อาจ|ไม่ได้รับอนุญาต).{0,60}?(?:ช่วย|ตอบ|ให้|สรุป|ดำเนินการ|ทำ)`,
		afterApology: `.{0,20}?(?:ไม่สามารถ|ไม่อาจ).{0,60}?(?:ช่วย|ตอบ|ให้|สรุป|ดำเนินการ|ทำ)`,
	},
	{
		name:      "Persian",
		apologies: `(?:متأسفم|متاسفم|متأسفانه|متاسفانه|عذرخواهی می ?کنم|ببخشید|پوزش می ?خواهم|معذرت می ?خواهم)`,
		openers:   `(?:اما|ولی|که)(?: |$)`,
		refusals:  `(?:من )?(?:نمی ?توانم|نمیتوانم|قادر نیستم|قادر به).{0,60}?(?:کمک|پاسخ|ارائه|خلاصه|انجام|ادامه)`,
	},
}
